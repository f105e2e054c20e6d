package replies

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// Answer converts a submitted value to a valid answer if only its form is wrong: if scalars are written as strings, or
// if the program submitted the only output's value instead of an object. Otherwise Answer returns the value unchanged.
func Answer(spec *signature.Spec, value json.RawMessage) json.RawMessage {
	if len(value) == 0 || len(spec.Validate(value)) == 0 {
		return value
	}
	r := reply{outputs: spec.Outputs()}
	found, err := r.members(value)
	if all := (signature.Values{}); json.Unmarshal(value, &all) == nil && len(all) != len(found) {
		found = nil // it has other members
	}
	if err != nil || found == nil && len(r.outputs) == 1 {
		found = fields{r.outputs[0].Name: {{json: value}}}
	}
	values, err := r.settle(found)
	if err != nil {
		return value
	}
	answer, err := values.MarshalJSON()
	if err != nil {
		return value
	}
	return answer
}

// Misshapen reports whether an answer has the wrong shape: it is not an object, it lacks an output, or it has an
// unknown member or a value of the wrong type.
func Misshapen(spec *signature.Spec, answer json.RawMessage) bool {
	var all signature.Values
	if len(answer) == 0 || json.Unmarshal(answer, &all) != nil {
		return true
	}
	outputs := spec.Outputs()
	for _, v := range all {
		at := slices.IndexFunc(outputs, func(f signature.Field) bool { return f.Name == v.Name })
		if at < 0 || !shapeOf(outputs[at].Schema.Raw()).admits(v.JSON) {
			return true
		}
	}
	return slices.ContainsFunc(outputs, func(f signature.Field) bool {
		_, given := all.Get(f.Name)
		return f.Required && !given
	})
}

// Call returns an example of a call that submits an answer: submit({total: 12, names: ["…"]}).
func Call(spec *signature.Spec) string {
	members := make([]string, 0, len(spec.Outputs()))
	for _, f := range spec.Outputs() {
		members = append(members, f.Name+": "+shapeOf(f.Schema.Raw()).sample(3))
	}
	return "submit({" + strings.Join(members, ", ") + "})"
}

// sample returns an example value with the shape, in JavaScript.
func (s shape) sample(depth int) string {
	switch {
	case s.constants != nil:
		return string(Quote(s.constants[0]))
	case s.text() && s.format == "date":
		return `"2026-01-31"`
	case s.text() && s.format == "date-time":
		return `"2026-01-31T15:04:05Z"`
	case s.text(), s.any():
		return `"…"`
	case s.number():
		return fmt.Sprint(max(s.minimum, 1))
	case s.kinds["boolean"]:
		return "true"
	case depth == 0:
		return "…"
	case s.items != nil:
		return "[" + s.items.sample(depth-1) + "]"
	}
	members := make([]string, 0, len(s.members))
	for _, m := range s.members {
		members = append(members, string(key(m.name))+": "+m.shape.sample(depth-1))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// key returns a member's name in JavaScript.
func key(name string) []byte {
	if bareKey.FindString(name) == name {
		return []byte(name)
	}
	return Quote(name)
}

// HasMembers reports whether a value is an object with a member that is not null. If all outputs are optional, an empty
// object is valid, but it is not meant as an answer.
func HasMembers(value json.RawMessage) bool {
	var outputs signature.Values
	return json.Unmarshal(value, &outputs) == nil &&
		slices.ContainsFunc(outputs, func(v signature.Value) bool { return string(v.JSON) != "null" })
}
