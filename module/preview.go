package module

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// What a question shows of the inputs of programs. A task in words, or a page of
// text, is read at once; what is longer is for programs to look into.
const (
	wholeInput   = 8000  // bytes of JSON that are shown whole
	partOfInput  = 1500  // bytes that are shown of a longer one
	mediaInput   = 200   // bytes that are shown of what is attached
	allInputs    = 16000 // bytes of all together, about
	leastOfInput = 100
)

// newPreview is the question of a module that writes programs: what the inputs
// are, small ones whole, the others in part. A program has all of them.
func newPreview(spec *signature.Spec, inputs signature.Values) (question, error) {
	q := question{inputs: previews(inputs)}
	for i, v := range inputs {
		f, _ := spec.Field(v.Name)
		parts, names, err := attachments(f.Kind(), v.JSON)
		if err != nil {
			return q, fmt.Errorf("module: the input %q: %w", v.Name, err)
		}
		if len(parts) > 0 {
			shown := replies.PlainText(numbered(len(q.parts), len(parts), names))
			q.inputs[i].JSON = replies.Quote(shown + "; in programs " + inPart(v.JSON, mediaInput))
			q.parts = append(q.parts, parts...)
		}
	}
	return q, nil
}

// previews shows inputs whole, the small ones first, as long as there is room to
// show a part of the others.
func previews(inputs signature.Values) signature.Values {
	shown, order := slices.Clone(inputs), make([]int, len(inputs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(inputs[a].JSON), len(inputs[b].JSON)) })
	left := allInputs
	for n, i := range order {
		others := len(order) - n - 1
		share := max(left/(others+1), leastOfInput)
		if len(inputs[i].JSON) > min(wholeInput, max(share, left-others*partOfInput)) {
			shown[i].JSON = replies.Quote(inPart(inputs[i].JSON, min(share, partOfInput)))
		}
		left -= len(shown[i].JSON)
	}
	return shown
}
