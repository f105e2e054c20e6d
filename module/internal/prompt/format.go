package prompt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// The reply formats. Each one implements module.Adapter.
type (
	// Markers asks for each output under its marker.
	Markers struct{}

	// Object asks for one JSON object.
	Object struct{}

	// Native is Object for a model whose provider constrains the reply to a schema.
	Native struct{ Object }

	// Program asks for a program in one fenced block, after the reasoning as plain text.
	Program struct{}

	// Verbatim sends the inputs unchanged and returns the reply unchanged as the output.
	Verbatim struct{}
)

// System returns the system prompt.
func (Markers) System(spec *signature.Spec, briefing string) string {
	var form strings.Builder
	form.WriteString("Reply in exactly this form, with each value under its marker:\n\n")
	asked := spec.Outputs()
	for _, f := range asked {
		replies.WriteMarker(&form, f.Name)
		form.WriteString("\n" + replies.Placeholder(f.Name) + "\n\n")
	}
	replies.WriteMarker(&form, replies.EndName(asked))
	form.WriteString("\n\n" + valueRules)
	if slices.ContainsFunc(asked, optional) {
		form.WriteString(" An output with ? is optional: if it has no value, leave out its marker.")
	}
	return system(spec, inputs(spec)+outputs(spec), form.String()+Formats(spec.OutputSchema().Raw()), briefing)
}

// valueRules make every value unambiguous.
const valueRules = `Write text as it is, and any other value as JSON: 12.5, true, ["a", "b"], {"key": "value"}. ` +
	`Write text that is empty, or that has a line like these markers, as a JSON string. ` +
	`A code fence around a value is not part of it.`

func optional(f signature.Field) bool { return !f.Required }

// Question writes the inputs and a reminder of the format.
func (Markers) Question(spec *signature.Spec, inputs signature.Values) string {
	var b strings.Builder
	b.WriteString("Reply with ")
	fields := spec.Outputs()
	for _, f := range fields {
		replies.WriteMarker(&b, f.Name)
		if optional(f) {
			b.WriteString(" (optional)")
		}
		b.WriteString(", ")
	}
	b.WriteString("and at the end ")
	replies.WriteMarker(&b, replies.EndName(fields))
	b.WriteByte('.')
	return Question(inputs, b.String())
}

// Answer writes outputs as a reply.
func (Markers) Answer(spec *signature.Spec, outputs signature.Values) string {
	var b strings.Builder
	fields := spec.Outputs()
	for _, f := range fields {
		text := replies.NotGiven
		if value, given := outputs.Get(f.Name); given {
			text = replies.Written(f, value)
		} else if !f.Required {
			continue
		}
		replies.WriteMarker(&b, f.Name)
		b.WriteString("\n" + text + "\n\n")
	}
	replies.WriteMarker(&b, replies.EndName(fields))
	return b.String()
}

// Read finds the outputs in a reply, in this or another format.
func (Markers) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	return replies.Read(spec, reply, truncated, replies.Markers)
}

// System returns the system prompt.
func (Object) System(spec *signature.Spec, briefing string) string {
	return objectSystem(spec, briefing, "leave it out")
}

// objectSystem lists the outputs even if the provider constrains the reply to a schema: the schema lacks some of their
// constraints, and a model that is constrained by a grammar does not see the schema.
func objectSystem(spec *signature.Spec, briefing, unset string) string {
	form := "Reply with one JSON object whose keys are these outputs. Write nothing else: no comments, no code fence."
	if slices.ContainsFunc(spec.Outputs(), optional) {
		form += " An output with ? is optional: if it has no value, " + unset + "."
	}
	return system(spec, inputs(spec)+outputs(spec), form+Formats(spec.OutputSchema().Raw()), briefing)
}

// Question writes the inputs and a reminder of the format.
func (Object) Question(spec *signature.Spec, inputs signature.Values) string {
	var names []string
	for _, f := range spec.Outputs() {
		name := f.Name
		if optional(f) {
			name += " (optional)"
		}
		names = append(names, name)
	}
	return Question(inputs, "Reply with one JSON object and nothing else. Its keys: "+strings.Join(names, ", ")+".")
}

// Answer writes outputs as a reply.
func (Object) Answer(spec *signature.Spec, outputs signature.Values) string {
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
	if err != nil { // impossible: a Predictor passes only JSON
		return "{}"
	}
	return string(text)
}

// Read finds the outputs in a reply, in this or another format.
func (Object) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	return replies.Read(spec, reply, truncated, replies.Object)
}

// System returns the system prompt.
func (Native) System(spec *signature.Spec, briefing string) string {
	return objectSystem(spec, briefing, "make it null")
}

// Read finds the outputs in a reply in which null stands for an output without a value.
func (n Native) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	return n.Object.Read(spec, string(spec.OutputSchema().DropUnset(json.RawMessage(reply))), truncated)
}

// System returns the system prompt.
func (Program) System(spec *signature.Spec, briefing string) string {
	form := "Work in steps. In each reply, write "
	if f, ok := spec.Field("reasoning"); ok {
		form += f.Description + ", then "
	}
	code, _ := spec.Field("code")
	form += code.Description + " in one ```js block. Write nothing after the block, and never make up results."
	return system(spec, inputs(spec), form, briefing)
}

// Question writes the inputs and a reminder of the format.
func (Program) Question(spec *signature.Spec, inputs signature.Values) string {
	if _, ok := spec.Field("reasoning"); ok {
		return Question(inputs, "Reply with a sentence or two, then one ```js block, and nothing after it.")
	}
	return Question(inputs, "Reply with one ```js block, and nothing after it.")
}

// Answer writes a program as a reply.
func (Program) Answer(_ *signature.Spec, outputs signature.Values) string {
	text := replies.NotGiven
	if code, given := outputs.Get("code"); given {
		text = replies.Fenced("js", replies.PlainText(code))
	}
	if reasoning, given := outputs.Get("reasoning"); given {
		text = replies.PlainText(reasoning) + "\n\n" + text
	}
	return text
}

// Read finds the program in a reply.
func (Program) Read(_ *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	found, err := replies.ReadProgram(reply, truncated)
	if err != nil {
		return nil, err
	}
	var values signature.Values
	if found.Reasoning != "" {
		values = signature.Values{{Name: "reasoning", JSON: replies.Quote(found.Reasoning)}}
	}
	return append(values, signature.Value{Name: "code", JSON: replies.Quote(found.Code)}), nil
}

// System returns the system prompt.
func (Verbatim) System(spec *signature.Spec, briefing string) string {
	return strings.TrimSpace(briefing + "\n" + spec.Instructions())
}

// Question writes the inputs.
func (Verbatim) Question(_ *signature.Spec, inputs signature.Values) string { return joinTexts(inputs) }

// Answer writes the outputs.
func (Verbatim) Answer(_ *signature.Spec, outputs signature.Values) string { return joinTexts(outputs) }

func joinTexts(values signature.Values) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, replies.PlainText(v.JSON))
	}
	return strings.Join(texts, "\n\n")
}

// Read returns the reply.
func (Verbatim) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	text, err := replies.Verbatim(reply, truncated)
	if err != nil {
		return nil, err
	}
	return signature.Values{{Name: spec.Outputs()[0].Name, JSON: replies.Quote(text)}}, nil
}

// formats has the rules for formats that a model cannot guess.
var formats = []struct{ name, rule string }{
	{"date", "Write a date as 2026-01-31."},
	{"date-time", "Write a date-time as 2026-01-31T15:04:05Z."},
	{schema.Nanoseconds, `A duration in nanoseconds may be written with its unit instead, such as "90m".`},
}

// Formats returns the rules for dates, times and durations in the schemas' values. They do not apply to programs, in
// which durations are numbers.
func Formats(schemas ...json.RawMessage) string {
	var text string
	for _, f := range formats {
		has := func(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(`"format":"`+f.name+`"`)) }
		if slices.ContainsFunc(schemas, has) {
			text += " " + f.rule
		}
	}
	return text
}
