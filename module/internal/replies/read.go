package replies

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
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
	r := reply{spec: spec, outputs: spec.Outputs(), text: said, truncated: truncated}
	if values := readExact(r); values != nil {
		return values, nil
	}
	return r.read(asked)
}

// read finds the outputs by the first reader that knows the form of the reply.
func (r reply) read(asked Form) (values signature.Values, err error) {
	if r.text, err = visible(r.text); err != nil {
		return nil, err
	}
	if r.truncated && !asked.ended(r) && !r.answered() {
		return nil, errCutOff
	}
	r.text = withoutForm(r)
	for _, read := range readers() {
		values, err := read(r)
		if err == nil && values != nil {
			err = r.otherwiseMeasured(values)
		}
		switch {
		case err != nil:
			return nil, err
		case values != nil:
			return values, nil
		}
	}
	if err := r.misfit(); err != nil {
		return nil, err
	}
	return nil, structural("", "no field was found in the reply; %s", asked.advice(r.outputs[0].Name))
}

// misfit says what is wrong with a reply that is nothing but a value, which the only output
// cannot have.
func (r reply) misfit() error {
	f, only := r.only()
	text := strings.TrimSpace(Unfence(r.text))
	if !only || text == "" || strings.Contains(text, "\n") || len(text) > longestWord || f.Schema.AnyText() {
		return nil
	}
	s := shapeOf(f)
	value := s.exact(text)
	inParts := strings.ContainsAny(text, " \t:") && !(startsJSON(text) && (s.temporal() || s.lasts()))
	if s.any || value == nil && inParts && !json.Valid([]byte(text)) || value != nil && fits(f, value) {
		return nil
	}
	return mismatch(f, s, text, value)
}

// answered reports whether a reply that was cut off had come to the end of its
// answer, and was about to explain it.
func (r reply) answered() bool {
	if ended(r.outputs, r.text) {
		return true
	}
	if HasMarker(r.text) {
		return r.lastWhole()
	}
	objects, _, _, err := objectsIn(r.text)
	if err != nil || len(objects) == 0 {
		return false
	}
	lacking, _ := r.lacking(r.unwrapped(objects[len(objects)-1]).Values)
	return lacking == nil
}

// lastWhole reports whether a reply was cut off behind the value of its last field, which
// says itself where it ends: with a quote, or a bracket.
func (r reply) lastWhole() bool {
	marks := marksIn(r.text)
	last := marks[len(marks)-1]
	f, known := marked(r.outputs, EndName(r.outputs), last.name)
	if !known || f.Name != r.outputs[len(r.outputs)-1].Name {
		return false
	}
	value := strings.TrimSpace(Unfence(r.text[last.end:]))
	return json.Valid([]byte(value)) && strings.ContainsAny(value[:1], `"[{`)
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

// longest is how many bytes of a reply are looked through: more than any model says at
// once, and not more than takes a second or two at the worst.
const longest = 1 << 20

var errTooLong = structural("", "the reply is longer than %d bytes; write less", longest)

// visible is the part of a reply that is meant to be read.
func visible(said string) (string, error) {
	if len(said) > longest {
		return "", errTooLong
	}
	text, err := withoutTokens(withoutClosers(unescapedMarks(unquotedLines(lineEnds(said)))))
	if err == nil {
		text, err = withoutThoughts(text)
	}
	if err == nil && blank(text) {
		err = structural("", "the reply is empty")
	}
	return text, err
}

// withoutClosers drops lines that end a field as XML does, [[ ## /answer ## ]].
func withoutClosers(text string) string {
	if !strings.Contains(text, "[[ ## /") {
		return text
	}
	return closer.ReplaceAllString(text, "")
}

var closer = regexp.MustCompile(`(?m)^\[\[ ## /\w+ ## \]\][ \t]*\n`)

func lineEnds(said string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToValidUTF8(said, "\ufffd"), "\ufeff"), "\r\n", "\n")
}

// withoutForm drops the type of the answer, where a model repeats it.
func withoutForm(r reply) string {
	if strings.Contains(r.text, ": <") && strings.Count(r.text, "{") > 1 {
		r.text = blanks.ReplaceAllString(r.text, "")
	}
	if !repeatsForm(r) {
		return r.text
	}
	return strings.ReplaceAll(r.text, r.spec.OutputTypeScript(), "")
}

// blanks finds objects that have a blank to fill in for every value: {"price": <number>}.
var blanks = regexp.MustCompile(`\{(?:\s*"\w+": <[\pL _-]+>,?)+\s*\}`)

// repeatsForm reports whether the type of the answer may be in a reply.
func repeatsForm(r reply) bool {
	return strings.IndexByte(r.text, '{') >= 0 && strings.Contains(r.text, "{"+r.outputs[0].Name)
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
	if err := r.reasoned(values); err != nil {
		return nil, err
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
