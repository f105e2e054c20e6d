package module

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writ-go/writ/signature"
)

// The adapter of field markers: every field stands under a line of its own,
// [[ ## name ## ]], which no value contains by accident.

func marker(field string) string { return "[[ ## " + field + " ## ]]" }

// systemPrompt says what the fields are and how to answer. It is the same for
// every question of a predictor, so that providers can cache it.
func systemPrompt(spec *signature.Spec, briefing string) string {
	var b strings.Builder
	if inputs := spec.Inputs(); len(inputs) > 0 {
		b.WriteString("Your input fields are:\n")
		listFields(&b, inputs)
	}
	b.WriteString("Your output fields are:\n")
	listFields(&b, spec.Outputs())
	b.WriteString("\nAnswer in exactly this form, each value under the marker of its field:\n\n")
	for _, f := range spec.Outputs() {
		fmt.Fprintf(&b, "%s\n%s\n\n", marker(f.Name), placeholder(f.Name))
	}
	b.WriteString(marker(endName(spec)) + "\n\n" + valueRules)
	if briefing != "" {
		b.WriteString("\n" + strings.Trim(briefing, "\n") + "\n")
	}
	if objective := strings.TrimSpace(spec.Instructions()); objective != "" {
		b.WriteString("\nYour objective:\n" + objective + "\n")
	}
	return b.String()
}

// valueRules is what makes one reading of a value the right one.
const valueRules = `Text is written as it is, or as a JSON string if it is empty or contains lines like these markers; anything else is JSON. A code fence around a value is no part of it. Leave out the marker of an optional field (?) that has no value.
`

// listFields writes one line for each field: what it is called, what it may be,
// and what it means.
func listFields(b *strings.Builder, fields []signature.Field) {
	for i, f := range fields {
		declaration := declare(f)
		fmt.Fprintf(b, "%d. %s", i+1, declaration)
		if f.Description != "" && !strings.Contains(declaration, f.Description) {
			b.WriteString(" // " + f.Description)
		}
		b.WriteByte('\n')
	}
}

// declare writes a field as a member of a type, where its constraints are shown:
//
//	score?: number /* 0–1 */
func declare(f signature.Field) string {
	alone, err := signature.NewSpec("", nil, []signature.Field{{Name: f.Name, Schema: f.Schema, Required: f.Required}})
	if err != nil { // a schema that does not stand alone
		return f.Name + ": " + f.Schema.TypeScript(nil)
	}
	return strings.TrimSuffix(strings.TrimPrefix(alone.OutputTypeScript(), "{"), "}")
}

// formatInputs writes the values of a question: text as it is, anything else as
// JSON.
func formatInputs(inputs signature.Values) string {
	var b strings.Builder
	for _, v := range inputs {
		b.WriteString(marker(v.Name) + "\n" + plainText(v.JSON) + "\n\n")
	}
	return b.String()
}

func plainText(value json.RawMessage) string {
	var text *string
	if json.Unmarshal(value, &text) == nil && text != nil {
		return *text
	}
	return string(value)
}

// replyReminder ends a question.
func replyReminder(spec *signature.Spec) string {
	names := make([]string, len(spec.Outputs()))
	for i, f := range spec.Outputs() {
		names[i] = marker(f.Name)
	}
	return "Answer with " + strings.Join(names, ", then ") + ", and end with " + marker(endName(spec)) + "."
}

// repairPrompt shows the model what is wrong with its reply.
func repairPrompt(spec *signature.Spec, err error) string {
	return fmt.Sprintf("Your reply cannot be used:\n%v\n\n%s", err, replyReminder(spec))
}
