package module

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writ-go/writ/signature"
)

// The adapter of field markers: every field stands under a line of its own,
// [[ ## name ## ]], which no value contains by accident.

const completed = "[[ ## completed ## ]]"

func marker(field string) string { return "[[ ## " + field + " ## ]]" }

// systemPrompt says what the fields are and how to answer. It is the same for
// every question of a predictor, so that providers can cache it.
func systemPrompt(spec *signature.Spec, context string) string {
	var b strings.Builder
	if inputs := spec.Inputs(); len(inputs) > 0 {
		b.WriteString("Your input fields are:\n")
		listFields(&b, inputs)
	}
	b.WriteString("Your output fields are:\n")
	listFields(&b, spec.Outputs())
	b.WriteString("\nAnswer in exactly this form, each value under the marker of its field:\n\n")
	for _, f := range spec.Outputs() {
		fmt.Fprintf(&b, "%s\n{%s}\n\n", marker(f.Name), f.Name)
	}
	b.WriteString(completed + "\n")
	if context != "" {
		b.WriteString("\n" + context + "\n")
	}
	b.WriteString("\nYour objective:\n" + strings.TrimSpace(spec.Instructions()) + "\n")
	return b.String()
}

func listFields(b *strings.Builder, fields []signature.Field) {
	for i, f := range fields {
		fmt.Fprintf(b, "%d. `%s`: %s", i+1, f.Name, f.Schema.TypeScript(nil))
		if f.Description != "" {
			b.WriteString(" // " + f.Description)
		}
		b.WriteByte('\n')
	}
}

// formatInputs writes the values of a question: text as it is, anything else as
// JSON.
func formatInputs(inputs signature.Values) string {
	var b strings.Builder
	for i, v := range inputs {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(marker(v.Name) + "\n" + plainText(v.JSON))
	}
	return b.String()
}

func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// replyReminder ends a question.
func replyReminder(spec *signature.Spec) string {
	names := make([]string, len(spec.Outputs()))
	for i, f := range spec.Outputs() {
		names[i] = marker(f.Name)
	}
	return "Answer with " + strings.Join(names, ", then ") + ", and end with " + completed + "."
}

// repairPrompt shows the model what is wrong with its reply.
func repairPrompt(spec *signature.Spec, err error) string {
	return fmt.Sprintf("Your reply cannot be used:\n%v\n\n%s", err, replyReminder(spec))
}
