// Package prompt writes what a model is told before anything has happened: the system prompt of every module,
// and the reminder at the end of every question. What happened is told by the observations of package module.
//
// Every text is a function of plain data. A system prompt is the same for every step and every run, so that
// providers can cache it.
package prompt

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// system joins the sections of a system prompt: what to do comes first, then what is given and wanted, the form
// of replies, and what else to know. Empty sections are left out.
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

// inputs lists the inputs of a question. Images and files come with it, and a history before it.
func inputs(spec *signature.Spec) string {
	var lines strings.Builder
	for _, f := range spec.Inputs() {
		switch f.Kind() {
		case signature.KindHistory:
		case signature.KindValue:
			writeField(&lines, f, declared(f))
		default:
			writeField(&lines, f, spec.Declare(f.Name))
		}
	}
	if lines.Len() == 0 {
		return ""
	}
	return "Inputs:\n" + lines.String()
}

// outputs lists the outputs of a question.
func outputs(spec *signature.Spec) string { return "Outputs:\n" + list(spec.Outputs()) }

// list writes one line for each field: its name, its type and what it means.
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

// declared writes a field as a member of a type, where its constraints are shown:
//
//	score?: number /* 0–1 */
func declared(f signature.Field) string {
	alone, err := signature.NewSpec("", nil, []signature.Field{{Name: f.Name, Schema: f.Schema, Required: f.Required}})
	if err != nil { // a schema that does not stand alone
		return f.Name + ": " + f.Schema.TypeScript(nil)
	}
	return strings.TrimSuffix(strings.TrimPrefix(alone.OutputTypeScript(), "{"), "}")
}

// Question writes each input under its marker, and then the reminder how to reply. Text is written as it is and
// anything else as JSON. Text that has markers of its own is JSON, too: it would pass for other inputs.
func Question(inputs signature.Values, reminder string) string {
	size := len(reminder)
	for _, v := range inputs {
		size += 24 + len(v.Name) + len(v.JSON)
	}
	var b strings.Builder
	b.Grow(size)
	for _, v := range inputs {
		replies.WriteMarker(&b, v.Name)
		b.WriteByte('\n')
		if mayMark(v.JSON) && replies.HasMarker(replies.PlainText(v.JSON)) {
			b.Write(v.JSON)
		} else {
			b.WriteString(replies.PlainText(v.JSON))
		}
		b.WriteString("\n\n")
	}
	b.WriteString(reminder)
	return b.String()
}

// mayMark spares most values the search for markers: those without brackets, and without escapes that may be
// brackets.
func mayMark(value json.RawMessage) bool {
	return bytes.Contains(value, []byte("[[")) || bytes.Contains(value, []byte(`\u`))
}
