package module

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature"
)

// readAlone reads a reply that is nothing but the value of the only output.
func readAlone(r reply) (signature.Values, error) {
	if len(r.outputs) != 1 {
		return nil, nil
	}
	f := r.outputs[0]
	value := aloneText(f, strings.TrimSpace(r.text))
	if value == nil || !fits(f, value) {
		return nil, nil
	}
	return signature.Values{{Name: f.Name, JSON: value}}, nil
}

func aloneText(f signature.Field, text string) json.RawMessage {
	s := shapeOf(f)
	bare := strings.TrimSpace(unfence(text))
	if isCode(f) {
		return aloneCode(text)
	}
	if bare == "" || s.any {
		return nil
	}
	if s.text && s.constants == nil && s.format == "" {
		return aloneWord(f, text, bare)
	}
	if fits(f, json.RawMessage(bare)) {
		return json.RawMessage(bare)
	}
	for _, candidate := range []string{bare, unframed(f.Name, bare)} {
		for _, spelling := range []func(shape, string) json.RawMessage{shape.literal, shape.exact, shape.stated, shape.list, shape.parts} {
			if value := spelling(s, candidate); value != nil && fits(f, value) {
				return value
			}
		}
	}
	return nil
}

// aloneCode is the only fenced block of a reply.
func aloneCode(text string) json.RawMessage {
	blocks, _, open := fences(text)
	if len(blocks) != 1 || open {
		return nil
	}
	return quote(blocks[0].text)
}

// answering is a sentence that gives a name or a number and nothing else.
var answering = regexp.MustCompile("^(?:The|My) (?:final |correct )?(?:answer|result) is:? (\\*\\*[^*\n]+\\*\\*|\"[^\"\n]+\"|`[^`\n]+`|[\\p{Lu}\\d][^.,;:!?()\n]*)\\.?$")

// aloneWord reads a text that is marked off by quotes, or is too short to be
// anything but the answer.
func aloneWord(f signature.Field, text, bare string) json.RawMessage {
	var quoted string
	if json.Unmarshal([]byte(bare), &quoted) == nil {
		return quote(quoted)
	}
	if bare != text {
		return quote(bare) // it was fenced
	}
	if m := answering.FindStringSubmatch(text); m != nil {
		text = undecorated(m[1])
	}
	first := []rune(text)[0]
	if !short(text, 3) || !unicode.IsUpper(first) && !unicode.IsDigit(first) {
		return nil
	}
	for _, w := range wordsOf(text) {
		if chatter[w] || contracted(w) {
			return nil
		}
	}
	return quote(text)
}

// chatter are words of short replies that are no answers.
var chatter = wordSet(`i we you it me my this that there here please certainly okay ok yes done thanks thank hello hi
	hey understood noted great absolutely refuse refused declined cannot unable none nothing null nil na n a undefined
	unavailable unspecified unanswerable insufficient information missing invalid skip skipped pass empty blank todo tbd
	answer result completed finished working loading processing let see good got happy glad course will can how what
	which who when where why is are was were be am do does did have has had any`)
