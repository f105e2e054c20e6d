package module

import (
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// object is the adapter for replies that are a JSON object.
type object struct{}

// System implements [Adapter].
func (object) System(spec *signature.Spec, briefing string) string {
	return prompt.Object(spec, briefing)
}

// Question implements [Adapter].
func (object) Question(spec *signature.Spec, inputs signature.Values) string {
	return prompt.Question(inputs, prompt.ObjectReminder(spec.Outputs()))
}

// Answer implements [Adapter].
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
	if err != nil { // a value is not JSON
		return "{}"
	}
	return string(text)
}

// Read implements [Adapter].
func (object) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	values, err := replies.Read(spec, reply, truncated, replies.Object)
	return values, readError(err)
}
