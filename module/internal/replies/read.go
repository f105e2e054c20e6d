package replies

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// reader finds the outputs in a reply. It returns nil if the reply isn't in its
// form.
type reader func(reply) (signature.Values, error)

// readers goes from the form that says most clearly where a value begins and
// ends to the one that says least.
func readers() []reader {
	return []reader{readWhole, readMarkers, readTags, readObject, readTable, readAssigned, readLines, readAlone}
}

// Read finds the outputs in what a model said, in whatever form, which was asked for
// one. Truncated says that it was cut off at the limit of tokens: an error, unless the
// answer is whole. Every error is an [*Error].
func Read(spec *signature.Spec, said string, truncated bool, asked Form) (signature.Values, error) {
	text, err := visible(said)
	if err != nil {
		return nil, err
	}
	r := reply{spec: spec, outputs: spec.Outputs(), text: text, truncated: truncated}
	if truncated && !asked.ended(r) && !r.answered() {
		return nil, errCutOff
	}
	r.text = withoutForm(r)
	for _, read := range readers() {
		if values, err := read(r); values != nil || err != nil {
			return values, err
		}
	}
	return nil, structural("", "no field was found in the reply; put each value under its marker, such as %s", marker(r.outputs[0].Name))
}

// answered reports whether a reply that was cut off had come to the end of its
// answer, and was about to explain it.
func (r reply) answered() bool {
	if ended(r.outputs, r.text) {
		return true
	}
	objects, _, behind, err := objectsIn(r.text)
	if err != nil || len(objects) == 0 || objects[len(objects)-1].unclosed || blank(strings.Trim(behind, "` \n")) || HasMarker(r.text) {
		return false
	}
	lacking, _ := r.lacking(r.unwrapped(objects[len(objects)-1]).Values)
	return lacking == nil
}

// Verbatim reads a reply that is the answer as it is. Every error is an [*Error].
func Verbatim(said string, truncated bool) (string, error) {
	if truncated {
		return "", errCutOff
	}
	text := strings.TrimSpace(said)
	if text == "" {
		return "", structural("", "the reply is empty")
	}
	return text, nil
}

var errCutOff = structural("", "the reply was cut off at the model's limit of tokens; write less")

// visible is the part of a reply that is meant to be read.
func visible(said string) (string, error) {
	text, err := withoutTokens(unescapedMarks(unquotedLines(lineEnds(said))))
	if err == nil {
		text, err = withoutThoughts(text)
	}
	if err == nil && blank(text) {
		err = structural("", "the reply is empty")
	}
	return text, err
}

func lineEnds(said string) string {
	return strings.ReplaceAll(strings.TrimPrefix(said, "\ufeff"), "\r\n", "\n")
}

// withoutForm drops the type of the answer, where a model repeats it.
func withoutForm(r reply) string {
	if !strings.Contains(r.text, "{"+r.outputs[0].Name) {
		return r.text
	}
	return strings.ReplaceAll(r.text, r.spec.OutputTypeScript(), "")
}

// settle makes values of what is given for the fields, unless something behind
// them takes them back.
func (r reply) settle(fields map[string]given, behind string) (signature.Values, error) {
	values := make(signature.Values, 0, len(r.outputs))
	var problems []Problem
	for _, f := range r.outputs {
		g, ok := fields[f.Name]
		switch {
		case !ok && f.Required:
			problems = append(problems, Problem{f.Name, Structure, "is missing"})
		case !ok, !f.Required && g.text == "":
		default:
			value, err := readValue(f, g)
			switch {
			case err != nil:
				problems = append(problems, problemsOf(err)...)
			case value != nil:
				values = append(values, signature.Value{Name: f.Name, JSON: value})
			}
		}
	}
	if problems != nil {
		return nil, &Error{problems}
	}
	return values, r.stand(values, behind)
}

func problemsOf(err error) []Problem {
	if wrong := (*Error)(nil); errors.As(err, &wrong) {
		return wrong.Problems
	}
	return []Problem{{Kind: Structure, Message: err.Error()}}
}

// equalJSON compares values, in whatever way their texts are escaped.
func equalJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := exactly(a)
	y, errY := exactly(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

func exactly(value json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	return v, d.Decode(&v)
}

func equalValues(a, b signature.Values) bool {
	return slices.EqualFunc(a, b, func(v, w signature.Value) bool { return v.Name == w.Name && equalJSON(v.JSON, w.JSON) })
}
