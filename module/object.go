package module

import (
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// object is the adapter that asks for a JSON object.
type object struct{}

// System says what the fields are and in which form to answer.
func (object) System(spec *signature.Spec, briefing string) string {
	return prompt.Object(spec, briefing)
}

// Question puts the inputs under their markers.
func (object) Question(spec *signature.Spec, inputs signature.Values) string {
	return prompt.Question(inputs, prompt.ObjectReminder(spec.Outputs()))
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
