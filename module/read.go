package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// A reply is read by several readers in turn: markers, labels, a JSON object.
// What can be read in two ways is an error, which costs one more question: a
// wrong answer is worse than none.

// given is what a reply gives for a field.
type given struct {
	text string
	open bool // nothing says where it ends, but the reply does
}

// reader finds fields in a reply. It returns nil if the reply isn't in its form.
type reader func(*signature.Spec, string) (signature.Values, error)

// readReply finds the output fields in a reply. What it returns is not yet
// validated as a whole.
func readReply(spec *signature.Spec, s Step) (signature.Values, error) {
	text, err := visible(spec, s)
	if err != nil {
		return nil, err
	}
	for _, read := range []reader{readMarkers, readLabels, readObject} {
		if values, err := read(spec, text); values != nil || err != nil {
			return values, err
		}
	}
	return nil, fmt.Errorf("no field was found in the reply; put each value under its marker, such as %s", marker(spec.Outputs()[0].Name))
}

var (
	errEmpty  = errors.New("the reply is empty")
	errCutOff = errors.New("the reply was cut off at the model's limit of tokens; write less")
)

// visible is the part of a reply that is meant to be read. A reply that was cut
// off is used only if it had come to its end marker.
func visible(spec *signature.Spec, s Step) (string, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(s.Reply, "\ufeff"), "\r\n", "\n")
	text, err := withoutThinking(text)
	switch {
	case err != nil:
		return "", err
	case s.Truncated && !ended(spec, text):
		return "", errCutOff
	case blank(text):
		return "", errEmpty
	}
	return text, nil
}

var (
	thinkStart = regexp.MustCompile(`(?i)<think(?:ing)?>`)
	thinkEnd   = regexp.MustCompile(`(?i)</think(?:ing)?>`)
	// loneThinkEnd ends thoughts whose beginning was part of the prompt.
	loneThinkEnd = regexp.MustCompile(`(?is)^.*</think(?:ing)?>[ \t]*(?:\n|$)`)
)

// withoutThinking drops the thoughts before the answer, drafts included. Tags
// after the first marker belong to a value.
func withoutThinking(text string) (string, error) {
	if !strings.Contains(strings.ToLower(text), "think") {
		return text, nil // as most do
	}
	for {
		head, start := text, thinkStart.FindStringIndex(text)
		if start != nil {
			head = text[:start[0]]
		}
		lone := len(loneThinkEnd.FindString(head))
		if start == nil || markerText.MatchString(head[lone:]) {
			return text[lone:], nil
		}
		end := thinkEnd.FindStringIndex(text[start[1]:])
		if end == nil {
			return "", errors.New("the reply ends before its thoughts do; close them and answer")
		}
		text = head[lone:] + text[start[1]+end[1]:]
	}
}

// collect makes values of what is given for the fields.
func collect(spec *signature.Spec, fields map[string]given) (signature.Values, error) {
	values := signature.Values{}
	var errs []error
	for _, f := range spec.Outputs() {
		g, ok := fields[f.Name]
		switch {
		case !ok && f.Required:
			errs = append(errs, fmt.Errorf("the field %q is missing", f.Name))
		case !ok, !f.Required && g.text == "":
		default:
			value, err := readValue(f, g)
			if err != nil {
				errs = append(errs, fmt.Errorf("the field %q: %w", f.Name, err))
				continue
			}
			values = append(values, signature.Value{Name: f.Name, JSON: value})
		}
	}
	return values, errors.Join(errs...)
}

// outputNamed finds an output by its name, in any case where that is no other's.
func outputNamed(spec *signature.Spec, name string) (signature.Field, bool) {
	return fieldNamed(spec.Outputs(), name)
}

func fieldNamed(fields []signature.Field, name string) (signature.Field, bool) {
	var folded []signature.Field
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
		if strings.EqualFold(f.Name, name) {
			folded = append(folded, f)
		}
	}
	if len(folded) != 1 {
		return signature.Field{}, false
	}
	return folded[0], true
}

func quote(text string) json.RawMessage {
	quoted, _ := json.Marshal(text) // a string always encodes
	return quoted
}
