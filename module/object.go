package module

import (
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// object is the adapter that asks for a JSON object.
type object struct{}

// System says what the fields are and in which form to answer.
func (object) System(spec *signature.Spec, briefing string) string {
	return systemOfObject(spec, briefing, "Leave out an optional field (?) that has no value.")
}

func systemOfObject(spec *signature.Spec, briefing, unset string) string {
	form := "Answer with one JSON object of this type, and nothing else:\n\n```ts\n" + spec.OutputTypeScript() +
		"\n```\n"
	if slices.ContainsFunc(spec.Outputs(), optional) {
		form += "\n" + unset + "\n"
	}
	return writeSystem(spec, form, briefing)
}

// Question puts the inputs under their markers.
func (object) Question(spec *signature.Spec, inputs signature.Values) string {
	var b strings.Builder
	writeInputs(&b, inputs)
	b.WriteString("Answer with one JSON object of the ")
	outputs := spec.Outputs()
	if b.WriteString("field"); len(outputs) > 1 {
		b.WriteByte('s')
	}
	for i, f := range outputs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + f.Name)
	}
	b.WriteString(", and nothing else.")
	return b.String()
}

// Answer writes outputs in the form that is asked for.
func (object) Answer(spec *signature.Spec, outputs signature.Values) string {
	var answer signature.Values
	for _, f := range spec.Outputs() {
		value, given := outputs.Get(f.Name)
		if !given && !f.Required {
			continue
		}
		if !given {
			value = replies.Quote(replies.NotGiven)
		}
		answer = append(answer, signature.Value{Name: f.Name, JSON: value})
	}
	text, err := answer.MarshalJSON()
	if err != nil { // a value that is not JSON, which no Predictor makes
		return "{}"
	}
	return string(text)
}

// Read reads that form, and all others.
func (object) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	values, err := replies.Read(spec, reply, truncated, replies.Object)
	return values, readError(err)
}
