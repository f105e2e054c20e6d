// Package prompt writes all text for models: system prompts, questions and observations.
//
//   - The reply formats ([Markers], [Object], [Native], [Program], [Verbatim]) write system prompts and questions,
//     and read replies. [Code], [Action], [RLM] and [CallingBriefing] are the briefings of modules that act.
//   - An [Observation] reports a program's result. [Step] makes it from the program's outcome and its calls, and
//     cuts it to a limited size. [Call] reports a single call's result.
//   - [Cut] shortens a string, and [Preview] shortens a question's inputs.
//
// All text depends only on plain data. A system prompt is the same for every step and every run, so that providers can
// cache it.
package prompt

import (
	"maps"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// system joins the sections of a system prompt that are not empty: the instructions, the fields, the reply
// format, and the briefing.
func system(spec *signature.Spec, fields, form, briefing string) string {
	var b strings.Builder
	for _, section := range []string{spec.Instructions(), fields, form, briefing} {
		if section = strings.TrimSpace(section); section == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(section + "\n")
	}
	return b.String()
}

// ToolDescriptions lists the tool descriptions that a system prompt has in addition to the declarations.
func ToolDescriptions(texts map[string]string) string {
	if len(texts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nMore about the tools:\n")
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.WriteString("- " + name + ": " + strings.TrimSpace(texts[name]) + "\n")
	}
	return b.String()
}

// inputs lists a question's inputs, without a history, which is shown as messages.
func inputs(spec *signature.Spec) string {
	var lines strings.Builder
	for _, f := range spec.Inputs() {
		switch f.Kind() {
		case signature.KindHistory:
		case signature.KindImage:
			writeField(&lines, f, declaredAs("Image", f))
		case signature.KindFile:
			writeField(&lines, f, declaredAs("File", f))
		default:
			writeField(&lines, f, declared(f))
		}
	}
	if lines.Len() == 0 {
		return ""
	}
	return "Inputs:\n" + lines.String()
}

// outputs lists a question's outputs.
func outputs(spec *signature.Spec) string { return "Outputs:\n" + list(spec.Outputs()) }

// list writes one line for each field: its name, its type and its description.
func list(fields []signature.Field) string {
	var b strings.Builder
	for _, f := range fields {
		writeField(&b, f, declared(f))
	}
	return b.String()
}

func writeField(b *strings.Builder, f signature.Field, declaration string) {
	b.WriteString("- " + declaration)
	if f.Description != "" && !strings.Contains(declaration, f.Description) {
		b.WriteString(" // " + f.Description)
	}
	b.WriteByte('\n')
}

// declared returns a field as a type member, with its constraints:
//
//	score?: number /* 0–1 */
func declared(f signature.Field) string {
	alone, err := signature.NewSpec("", nil, []signature.Field{{Name: f.Name, Schema: f.Schema, Required: f.Required}})
	if err != nil { // the schema refers to another schema
		return f.Name + ": " + f.Schema.TypeScript(nil)
	}
	return strings.TrimSuffix(strings.TrimPrefix(alone.OutputTypeScript(), "{"), "}")
}

// declaredAs returns a field as a type member, with a name in place of its object type:
//
//	photos?: Image[] | null
func declaredAs(name string, f signature.Field) string {
	separator := "?: "
	if f.Required {
		separator = ": "
	}
	text := f.Schema.TypeScript(nil)
	return f.Name + separator + name + text[strings.LastIndexByte(text, '}')+1:]
}

// Question writes each input under its marker, and then the reminder of the format. Strings are written as plain text
// and other values as JSON. A string that contains markers is also written as JSON, since its parts could be mistaken
// for other inputs.
func Question(inputs signature.Values, reminder string) string {
	size := len(reminder)
	for _, v := range inputs {
		size += len(v.Name) + len(v.JSON) + 16 // the marker and line breaks
	}
	var b strings.Builder
	b.Grow(size)
	for _, v := range inputs {
		replies.WriteMarker(&b, v.Name)
		text := replies.PlainText(v.JSON)
		if replies.HasMarker(text) {
			text = string(v.JSON)
		}
		b.WriteString("\n" + text + "\n\n")
	}
	b.WriteString(reminder)
	return b.String()
}

// unfolded returns text without its first line break, and with each line that is indented by two spaces joined to
// the line before.
func unfolded(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "\n"), "\n  ", " ")
}
