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

// Markers is the system prompt that asks for each output under its marker.
func Markers(spec *signature.Spec, briefing string) string {
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

// valueRules is what makes one reading of a value the right one.
const valueRules = `Write text as it is. Write any other value as JSON: 12.5, true, ["a", "b"], {"key": "value"}. ` +
	`Text that is empty, or has a line like these markers, is written as a JSON string. ` +
	`A code fence around a value is not part of it.`

func optional(f signature.Field) bool { return !f.Required }

// MarkersReminder is the reminder of [Markers].
func MarkersReminder(outputs []signature.Field) string {
	var b strings.Builder
	b.WriteString("Reply with ")
	for _, f := range outputs {
		replies.WriteMarker(&b, f.Name)
		if optional(f) {
			b.WriteString(" (optional)")
		}
		b.WriteString(", ")
	}
	b.WriteString("and at the end ")
	replies.WriteMarker(&b, replies.EndName(outputs))
	b.WriteByte('.')
	return b.String()
}

// Object is the system prompt that asks for one JSON object.
func Object(spec *signature.Spec, briefing string) string {
	return object(spec, briefing, "leave it out")
}

// Native is the system prompt for a model whose provider constrains the reply to a schema. The outputs are
// listed all the same: the schema lacks some of their constraints, and models that are constrained by a grammar
// do not see it.
func Native(spec *signature.Spec, briefing string) string {
	return object(spec, briefing, "make it null")
}

func object(spec *signature.Spec, briefing, unset string) string {
	form := "Reply with one JSON object whose keys are these outputs. Write nothing else: no comments, no code fence."
	if slices.ContainsFunc(spec.Outputs(), optional) {
		form += " An output with ? is optional: if it has no value, " + unset + "."
	}
	return system(spec, inputs(spec)+outputs(spec), form+Formats(spec.OutputSchema().Raw()), briefing)
}

// ObjectReminder is the reminder of [Object] and [Native].
func ObjectReminder(outputs []signature.Field) string {
	names := make([]string, len(outputs))
	for i, f := range outputs {
		if names[i] = f.Name; optional(f) {
			names[i] += " (optional)"
		}
	}
	return "Reply with one JSON object and nothing else. Its keys: " + strings.Join(names, ", ") + "."
}

// Program is the system prompt that asks for a program in one fenced block, after the reasoning as plain text.
func Program(spec *signature.Spec, briefing string) string {
	form := "Work in steps. In each reply, write "
	if f, ok := spec.Field("reasoning"); ok {
		form += f.Description + ", then "
	}
	code, _ := spec.Field("code")
	form += code.Description + " in one ```js block. Write nothing after the block, and never make up results."
	return system(spec, inputs(spec), form, briefing)
}

// ProgramReminder is the reminder of [Program].
func ProgramReminder(spec *signature.Spec) string {
	if _, ok := spec.Field("reasoning"); ok {
		return "Reply with a sentence or two, then one ```js block, and nothing after it."
	}
	return "Reply with one ```js block, and nothing after it."
}

// formats are what JSON has no type for, and how to write it.
var formats = []struct{ name, rule string }{
	{"date", "A date is written 2026-01-31."},
	{"date-time", "A date-time is written 2026-01-31T15:04:05Z."},
	{schema.Nanoseconds, `A duration in nanoseconds may be written with its unit instead, such as "90m".`},
}

// Formats says how to write the dates, times and durations that the schemas have, or returns "". It is not for
// programs, whose durations are numbers.
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
