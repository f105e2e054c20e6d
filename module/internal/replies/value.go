package replies

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// readValue decodes one value. In text, a string may be plain or a JSON string, and any other value should be JSON; a
// fence around the value is removed. Other notations are accepted if they are unambiguous. Only reports whether the
// field is the only output. If an optional field has no value, readValue returns nil without an error.
func readValue(f signature.Field, given fieldValue, only bool) (json.RawMessage, error) {
	if given.json != nil {
		return readMember(f, given.json, only)
	}
	text := trimmed(given.text)
	if inner := Unfence(text); !blank(inner) && inner != text {
		text = strings.Trim(inner, "\n")
	}
	if text == "" {
		return nil, structural(f.Name, `has no value under its marker; for an empty string, write ""`)
	}
	if !f.Required && (text == "null" || text == "None") && !fits(f, json.RawMessage("null")) {
		return nil, nil
	}
	if !f.Schema.AnyText() {
		return readAny(f, strings.TrimSpace(text))
	}
	if blocks, open := fences(text); open && len(blocks) == 0 && (text[0] == '`' || text[0] == '~') {
		return nil, structural(f.Name,
			"begins with a code fence that is not closed; close it, or write the text as a JSON string")
	}
	return readText(f, text)
}

// trimmed removes the white space around text, but keeps the indentation of the first of several lines.
func trimmed(text string) string {
	inner := strings.TrimSpace(text)
	if at := strings.Index(text, inner); at > 0 && strings.Contains(inner, "\n") {
		line := strings.LastIndexByte(text[:at], '\n') + 1
		return strings.Trim(text[line:at], "\r\f\v") + inner
	}
	return inner
}

// readText reads a string, which may be written as a JSON string.
func readText(f signature.Field, text string) (json.RawMessage, error) {
	if text[0] != '"' || !json.Valid([]byte(text)) {
		return Quote(text), nil
	}
	if _, ok := quotedText(text); !ok {
		return nil, structural(f.Name, "contains an unpaired surrogate escape; write the character itself")
	}
	return json.RawMessage(text), nil
}

// readAny reads a value of a type other than an unrestricted string.
func readAny(f signature.Field, text string) (json.RawMessage, error) {
	if plainJSON(text) && fits(f, json.RawMessage(text)) {
		return json.RawMessage(text), nil
	}
	s := shapeOf(f.Schema.Raw())
	var misfit json.RawMessage
	try := func(value json.RawMessage) bool {
		if fits(f, value) {
			return true
		}
		if misfit == nil || !s.admits(misfit) {
			misfit = value
		}
		return false
	}
	if startsJSON(text) {
		value, err := wholeJSON(text)
		if err == nil {
			if value = s.spelled(value, shape.word); try(value) {
				return value, nil
			}
		} else if text[0] == '{' || text[0] == '[' {
			return nil, structural(f.Name, "cannot be read as JSON: %v", err)
		}
	}
	word := s.word(text)
	switch quoted := Quote(text); {
	case (s.text() || s.any()) && s.constants == nil && try(quoted):
		return quoted, nil
	case word != nil && try(word):
		return word, nil
	}
	if list := s.bullets(text); list != nil && try(list) {
		return list, nil
	}
	if blocks, open := fences(text); len(blocks) == 1 && !open && !blank(blocks[0].text) &&
		(s.kinds["array"] || s.kinds["object"]) {
		return readAny(f, strings.TrimSpace(blocks[0].text))
	}
	if misfit == nil {
		misfit = Quote(text)
	}
	return nil, mismatch(f, s, misfit)
}

// readMember reads a JSON object's member.
func readMember(f signature.Field, value json.RawMessage, only bool) (json.RawMessage, error) {
	if string(value) == "null" && !f.Required {
		if fits(f, value) {
			return value, nil
		}
		return nil, nil
	}
	if f.Schema.AnyText() && value[0] == '"' {
		return value, nil
	}
	if plainJSON(string(value)) && fits(f, value) {
		return value, nil
	}
	s := shapeOf(f.Schema.Raw())
	if value = s.spelled(value, shape.word); fits(f, value) {
		return value, nil
	}
	if text := asText(value); only && text != nil && fits(f, text) {
		return text, nil
	}
	return nil, mismatch(f, s, value)
}

// asText returns a finite number or a boolean as a JSON string, and nil for any other value.
func asText(value json.RawMessage) json.RawMessage {
	if strings.IndexByte(`"{[n`, value[0]) >= 0 {
		return nil
	}
	return Quote(string(value))
}

// plainJSON reports whether text is JSON without escapes, fractions and exponents, so that nothing must be normalized.
func plainJSON(text string) bool {
	return !strings.ContainsAny(text, `.eE\`) && json.Valid([]byte(text))
}

// startsJSON reports whether text may be JSON.
func startsJSON(text string) bool { return strings.IndexByte(`{["'-0123456789tfnTFN`, text[0]) >= 0 }

// huge matches numbers that may be too large for a float64.
var huge = regexp.MustCompile(`\d[eE]\+?\d{3}`)

func fits(f signature.Field, value json.RawMessage) bool {
	return len(f.Schema.Validate(value)) == 0
}

// mismatch says why a value does not fit a field.
func mismatch(f signature.Field, s shape, value json.RawMessage) error {
	switch findings := f.Schema.Validate(value); {
	case s.isDuration() && value[0] == '"':
		return structural(f.Name,
			`is not a duration; write an integer of nanoseconds, or a number with its unit, as in "90s"`)
	case s.admits(value):
		return &Error{[]Problem{{f.Name, KindConstraint, lines(findings)}}}
	default:
		return structural(f.Name, "cannot be read: %s", lines(findings))
	}
}
