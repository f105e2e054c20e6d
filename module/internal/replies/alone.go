package replies

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature"
)

// readAlone reads a reply that is nothing but the value of the only output.
func readAlone(r reply) (signature.Values, error) {
	f, only := r.only()
	if !only {
		return nil, nil
	}
	text := strings.TrimSpace(r.text)
	if values, err := r.judged(f, text); values != nil || err != nil {
		return values, err
	}
	if _, input := fieldNamed(r.spec.Inputs(), "answer"); !input && f.Schema.AnyText() {
		text = answerLabel.ReplaceAllString(text, "$1")
	}
	value := aloneText(f, text)
	if value == nil {
		value = boxedIn(f, r.text)
	}
	if value == nil || !fits(f, value) {
		return nil, nil
	}
	if hollowJSON(f, value, false) {
		return nil, errHollowJSON(f.Name)
	}
	return signature.Values{{Name: f.Name, JSON: value}}, nil
}

// answerLabel finds a reply that is one line with its label: **Answer:** Rome.
var answerLabel = regexp.MustCompile(`^(?i:\*\*(?:final )?answer(?::\*\*|\*\*:)|(?:final )?answer:) +([^\n]+)$`)

// boxedIn is the answer that a model of mathematics ends with, if it boxed no
// other.
func boxedIn(f signature.Field, text string) json.RawMessage {
	all := boxed.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil
	}
	for _, other := range all {
		if other[1] != all[0][1] {
			return nil
		}
	}
	behind := text[strings.LastIndex(text, all[0][0])+len(all[0][0]):]
	if strings.Trim(behind, "$]).*\\ \n") != "" {
		return nil
	}
	s := shapeOf(f)
	return s.grownText(strings.TrimSpace(all[0][1]))
}

// assignment is a reply that is a line of a script: names = ["Ada"].
var assignment = regexp.MustCompile(`^(?:(?:const|let|var|final)\s+)?(\w+)\s*(?::\s*[\w\[\], |]+)?=\s*`)

// readAssigned reads a reply that is a line of a script, with a text that may have
// several lines.
func readAssigned(r reply) (signature.Values, error) {
	f, only := r.only()
	if !only {
		return nil, nil
	}
	value := assigned(f, strings.TrimSpace(Unfence(r.text)))
	if value == nil || !fits(f, value) || hollowJSON(f, value, false) {
		return nil, nil
	}
	return signature.Values{{Name: f.Name, JSON: value}}, nil
}

// assigned is the text that a script assigns to the name of a field.
func assigned(f signature.Field, text string) json.RawMessage {
	m := assignment.FindStringSubmatch(text)
	if m == nil || !sameName(f.Name, m[1]) || !strings.ContainsAny(text[len(m[0]):min(len(text), len(m[0])+1)], "\"'`") {
		return nil
	}
	value, l, err := readLax(text[len(m[0]):])
	if err != nil || strings.Trim(text[len(m[0])+l.at:], "; \n") != "" {
		return nil
	}
	return value
}

// only is the output that must be there, if there is just one.
func (r reply) only() (only signature.Field, ok bool) {
	if len(r.outputs) == 1 {
		return r.outputs[0], true
	}
	n := 0
	for _, f := range r.outputs {
		if f.Required {
			only, n = f, n+1
		}
	}
	return only, n == 1
}

func aloneText(f signature.Field, text string) json.RawMessage {
	s := shapeOf(f)
	bare := strings.TrimSpace(Unfence(text))
	if isCode(f) {
		return aloneCode(text)
	}
	if bare == "" || s.any {
		return nil
	}
	if s.text && s.constants == nil && s.format == "" {
		if value := presented(f, text); value != nil {
			return value
		}
		return aloneWord(text, bare)
	}
	if fits(f, json.RawMessage(bare)) {
		return json.RawMessage(bare)
	}
	for _, candidate := range []string{bare, unframed(f.Name, bare)} {
		for _, spell := range []spelling{shape.literal, shape.exact, shape.terse, shape.noted} {
			if value := spell(s, candidate); value != nil && fits(f, value) {
				return value
			}
		}
	}
	if ofField(f.Name, bare) || s.format == dateTime && ofField("time timestamp date moment", bare) {
		if value := s.stated(bare); value != nil {
			return value
		}
		return s.pronounces(bare)
	}
	return s.dated(bare)
}

// terse is a list of things, and not of sentences.
func (s shape) terse(text string) json.RawMessage {
	lines := linesOf(text)
	for i, line := range lines {
		if len(line) > 60 || strings.HasSuffix(line, ".") || i > 0 && strings.HasSuffix(line, ":") {
			return nil
		}
	}
	return s.list(text)
}

// aloneCode is the only fenced block of a reply.
func aloneCode(text string) json.RawMessage {
	blocks, _, open := fences(text)
	if len(blocks) != 1 || open {
		return nil
	}
	return Quote(blocks[0].text)
}

// answering is a sentence that gives a name or a number and nothing else.
var answering = regexp.MustCompile("^(?:The|My) (?:final |correct )?(?:answer|result) is:? (\\*\\*[^*\n]+\\*\\*|\"[^\"\n]+\"|`[^`\n]+`|[\\p{Lu}\\d][^.,;:!?()\n]*)\\.?$")

// aloneWord reads a text that is marked off by quotes, or is too short to be
// anything but the answer.
func aloneWord(text, bare string) json.RawMessage {
	if quoted, ok := quotedText(bare); ok {
		if refuses.MatchString(quoted) {
			return nil
		}
		return Quote(quoted)
	}
	if bare != text {
		return fencedText(text)
	}
	if m := answering.FindStringSubmatch(text); m != nil {
		text = Undecorated(m[1])
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
	return Quote(text)
}

// fencedText is the text in a fence that says of nothing else what it is.
func fencedText(text string) json.RawMessage {
	blocks, _, _ := fences(text)
	b := blocks[0]
	text = strings.TrimSpace(b.text)
	if b.tag != "" && b.tag != "text" && b.tag != "txt" && b.tag != "plaintext" || strings.ContainsAny(text[:1], "{[<") || absent[strings.ToLower(text)] {
		return nil
	}
	return Quote(text)
}

var refuses = regexp.MustCompile(`(?i)\b(?:sorry|cannot|can't|can’t|unable|don't know|do not know|as an ai)\b`)

// chatter are words of short replies that are no answers.
var chatter = wordSet(`i we you it me my this that there here please certainly sure yep right correct agreed perfect alright okay ok yes done thanks thank hello hi
	hey understood noted great absolutely refuse refused declined cannot unable none nothing null nil na n a undefined
	unavailable unspecified unanswerable insufficient information missing invalid skip skipped pass empty blank todo tbd
	answer result completed finished working loading processing let see good got happy glad course will can how what
	which who when where why is are was were be am do does did have has had any`)
