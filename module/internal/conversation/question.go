package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// Question is a question to a model, with values as text, attachments and earlier turns.
type Question struct {
	Inputs  signature.Values
	Parts   []llms.ContentPart
	History signature.History
	LeftOut LeftOut // the turns that History no longer has
	Past    *Past   // a chat's earlier turns, instead of a history
	Note    string  // text before the inputs, or ""

	Briefing string // the briefing of this question if it differs from the predictor's, or ""
}

// NewQuestion divides inputs by their fields' kinds. Instead of an image or a file, the text has the attachment's
// number.
func NewQuestion(spec *signature.Spec, inputs signature.Values) (Question, error) {
	q := Question{Inputs: make(signature.Values, 0, len(inputs))}
	for _, v := range inputs {
		if kindOf(spec, v) == signature.KindHistory {
			turns, err := signature.Turns(v.JSON)
			if err != nil {
				return q, fmt.Errorf("module: the input %q: %w", v.Name, err)
			}
			q.History = append(q.History, turns...)
			continue
		}
		shown, err := q.attach(spec, v)
		if err != nil {
			return q, err
		}
		if shown != "" {
			v.JSON = replies.Quote(shown)
		}
		q.Inputs = append(q.Inputs, v)
	}
	return q, nil
}

// NewPreview returns the question of a module that writes programs. It shortens long inputs. Programs have all inputs
// in full as constants.
func NewPreview(spec *signature.Spec, inputs signature.Values) (Question, error) {
	inputs = slices.DeleteFunc(slices.Clone(inputs), func(v signature.Value) bool {
		return kindOf(spec, v) == signature.KindHistory && len(bytes.Trim(v.JSON, "[] \nnul")) == 0
	})
	q := Question{Inputs: prompt.Preview(inputs)}
	for i, v := range inputs {
		if kindOf(spec, v) == signature.KindHistory {
			q.Note = prompt.HistoryConstant(v.Name)
		}
		shown, err := q.attach(spec, v)
		if err != nil {
			return q, err
		}
		if shown != "" {
			q.Inputs[i].JSON = replies.Quote(prompt.AttachmentConstant(shown, v.JSON))
		}
	}
	return q, nil
}

// AddNote adds a note unless it is empty.
func (q *Question) AddNote(note string) {
	if q.Note != "" && note != "" {
		note = "\n\n" + note
	}
	q.Note += note
}

// SubmitHistory replaces the outputs of the earlier turns with calls to submit, for a model that answers with calls.
func (q *Question) SubmitHistory(spec *signature.Spec) error {
	for i, turn := range q.History {
		inputs, outputs := Sides(spec, turn)
		args, err := outputs.MarshalJSON()
		if err != nil {
			return fmt.Errorf("module: the history: %w", err)
		}
		q.History[i] = append(inputs, signature.Value{Name: "tool", JSON: replies.Quote(Submit)},
			signature.Value{Name: "args", JSON: args})
	}
	return nil
}

// attach adds the images or files of an input. It returns the text that names the attachments,
// or "" if the input has no attachments.
func (q *Question) attach(spec *signature.Spec, v signature.Value) (shown string, err error) {
	parts, names, err := Attachments(kindOf(spec, v), v.JSON)
	if err != nil {
		return "", fmt.Errorf("module: the input %q: %w", v.Name, err)
	}
	if len(parts) > 0 {
		shown = prompt.Attachments(len(q.Parts), len(parts), names)
		q.Parts = append(q.Parts, parts...)
	}
	return shown, nil
}

func kindOf(spec *signature.Spec, v signature.Value) signature.Kind {
	f, _ := spec.Field(v.Name)
	return f.Kind()
}

// Attachments returns the images or files in a value, and the file names if there are any.
func Attachments(kind signature.Kind, value json.RawMessage) (parts []llms.ContentPart, names []string, err error) {
	switch kind {
	case signature.KindImage:
		images, err := signature.Images(value)
		for _, i := range images {
			if i.URL != "" {
				parts = append(parts, llms.ImageURLPart(i.URL))
			} else {
				parts = append(parts, llms.BinaryPart(i.MIME, i.Data))
			}
		}
		return parts, nil, err
	case signature.KindFile:
		files, err := signature.Files(value)
		for _, f := range files {
			parts = append(parts, llms.BinaryPart(f.MIME, f.Data))
			names = append(names, cmp.Or(f.Name, "no name"))
		}
		if !slices.ContainsFunc(files, func(f signature.File) bool { return f.Name != "" }) {
			names = nil
		}
		return parts, names, err
	}
	return nil, nil, nil
}

// Sides divides a turn's values into inputs and outputs.
func Sides(spec *signature.Spec, turn signature.Values) (inputs, outputs signature.Values) {
	asked := map[string]bool{}
	for _, f := range spec.Inputs() {
		asked[f.Name] = true
	}
	for _, v := range turn {
		if asked[v.Name] {
			inputs = append(inputs, v)
		} else {
			outputs = append(outputs, v)
		}
	}
	return inputs, outputs
}
