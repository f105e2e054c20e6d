package replies

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/writ-go/writ/signature"
)

// Format is the format in which a model was asked to reply. [Read] also accepts other formats.
type Format int

const (
	// Markers puts each value under the marker of its field, and the end marker last.
	Markers Format = iota
	// Object is one JSON object.
	Object
)

// advice returns the advice for a reply in which no field was found.
func (f Format) advice(field string) string {
	if f == Object {
		return "answer with the JSON object"
	}
	return "put each value under its marker, such as " + marker(field)
}

// reply is a reply and the fields that it may contain.
type reply struct {
	outputs []signature.Field
	text    string
}

// fieldValue is a field's value in a reply, as text or as JSON.
type fieldValue struct {
	text string
	json json.RawMessage
}

// fields are the values in a reply, by output name. A repeated field has several values.
type fields map[string][]fieldValue

func (f fields) add(other fields) {
	for name, values := range other {
		f[name] = append(f[name], values...)
	}
}

// Read returns the outputs in a reply in any format. The requested format, asked, affects only the advice in errors. If
// the reply was truncated at the token limit, Read returns an error unless the answer is complete. Every error is an
// [*Error].
func Read(spec *signature.Spec, said string, truncated bool, asked Format) (signature.Values, error) {
	r := reply{outputs: spec.Outputs(), text: said}
	var err error
	if r.text, err = visible(said); err != nil {
		return nil, err
	}
	found, whole, err := r.fields()
	switch {
	case truncated && !whole:
		return nil, errCutOff
	case err != nil:
		return nil, err
	case found == nil:
		return nil, structural("", "no field was found in the reply; %s", asked.advice(r.outputs[0].Name))
	}
	return r.settle(found)
}

// fields returns the fields' values, or nil if it finds no field. Whole reports whether the reply marks where the
// answer ends.
func (r reply) fields() (found fields, whole bool, err error) {
	if found, whole, err = r.marked(); found != nil || err != nil {
		return found, whole, err
	}
	if found, err = r.object(); found != nil || err != nil {
		return found, err == nil, err
	}
	if found, err = r.labeled(); found != nil || err != nil {
		return found, false, err
	}
	if len(r.outputs) == 1 && r.bare() {
		return fields{r.outputs[0].Name: {{text: r.text}}}, false, nil
	}
	return nil, false, nil
}

// addRest adds the values that the rest of a reply has in another format, so that contradictions are found.
func (r reply) addRest(found fields, rest string) error {
	other := reply{r.outputs, strings.TrimSpace(rest)}
	if other.text == "" {
		return nil
	}
	again, err := other.object()
	if again == nil && err == nil {
		again, err = other.labeled()
	}
	if err != nil || again == nil {
		return err
	}
	found.add(again)
	return nil
}

// bare reports whether the whole reply can be the only output's value. Text must be a single paragraph, since one of
// several paragraphs may be a comment, and must not look like another format.
func (r reply) bare() bool {
	return !r.outputs[0].Schema.AnyText() || !strings.Contains(r.text, "\n\n") && !strings.Contains(r.text, "```") &&
		!strings.Contains(r.text, " ## ") && !strings.ContainsAny(r.text[:min(1, len(r.text))], "{[<")
}

// settle decodes each field's value and reports all problems at once.
func (r reply) settle(found fields) (signature.Values, error) {
	values := make(signature.Values, 0, len(r.outputs))
	var problems []Problem
	for _, f := range r.outputs {
		value, err := r.value(f, found[f.Name])
		switch {
		case err != nil:
			problems = append(problems, err.(*Error).Problems...)
		case value != nil:
			values = append(values, signature.Value{Name: f.Name, JSON: value})
		case f.Required:
			problems = append(problems, Problem{f.Name, KindStructure, "is missing"})
		}
	}
	if problems != nil {
		return nil, &Error{problems}
	}
	return values, nil
}

// value decodes a field's value. It returns nil if the value is empty.
func (r reply) value(f signature.Field, all []fieldValue) (value json.RawMessage, err error) {
	for _, g := range all {
		other, err := readValue(f, g, len(r.outputs) == 1)
		switch {
		case err != nil:
			return nil, err
		case len(other) > 0 && other[0] != '"' && huge.Match(other) && json.Unmarshal(other, new(any)) != nil:
			return nil, structural(f.Name, "has a number that is too large")
		case value != nil && other != nil && !equalJSON(value, other):
			return nil, structural(f.Name, "is given twice, with different values; give it once")
		case other != nil:
			value = other
		}
	}
	return value, nil
}

// Verbatim returns the whole reply as the answer, even if it is empty. The error is an [*Error].
func Verbatim(said string, truncated bool) (string, error) {
	if truncated {
		return "", errCutOff
	}
	return strings.TrimSpace(said), nil
}

// OutputNamed finds an output by its name, or by an unambiguous variant of it.
func OutputNamed(spec *signature.Spec, name string) (signature.Field, bool) {
	return fieldNamed(spec.Outputs(), name)
}

// fieldNamed finds a field by its name, or by an unambiguous variant of it: First name for first_name.
func fieldNamed(fields []signature.Field, name string) (signature.Field, bool) {
	at := nearestName(len(fields), func(i int) string { return fields[i].Name }, strings.TrimSuffix(name, "?"))
	if at < 0 {
		return signature.Field{}, false
	}
	return fields[at], true
}

// nearestName returns the index of name among n names or, if name is not among them, the index of the only name that
// differs from it only in case and in the separators of words. Otherwise it returns -1.
func nearestName(n int, at func(int) string, name string) int {
	found, same := -1, 0
	for i := range n {
		if at(i) == name {
			return i
		}
		if sameName(at(i), name) {
			found, same = i, same+1
		}
	}
	if same != 1 {
		return -1
	}
	return found
}

func sameName(a, b string) bool {
	return strings.EqualFold(a, b) || strings.EqualFold(joints.Replace(a), joints.Replace(b))
}

var joints = strings.NewReplacer("_", "", " ", "", "-", "")

// equalJSON reports whether two values are equal, however their strings are escaped.
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
