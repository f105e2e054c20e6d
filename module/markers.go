package module

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// markers is the adapter of field markers.
type markers struct{}

func marker(field string) string { return "[[ ## " + field + " ## ]]" }

func writeMarker(b *strings.Builder, field string) {
	b.WriteString("[[ ## ")
	b.WriteString(field)
	b.WriteString(" ## ]]")
}

// placeholder is what stands for a value where the prompt shows the form of
// replies. Models repeat that form now and then before they fill it in.
func placeholder(field string) string { return "{" + field + "}" }

// endName is the name of the marker that ends a reply.
func endName(outputs []signature.Field) string {
	name := "completed"
	for slices.ContainsFunc(outputs, func(f signature.Field) bool { return strings.EqualFold(f.Name, name) }) {
		name += "_"
	}
	return name
}

// valueRules is what makes one reading of a value the right one.
const valueRules = `Text is written as it is, or as a JSON string if it is empty or contains lines like these markers; anything else is JSON. A code fence around a value is no part of it. Leave out the marker of an optional field (?) that has no value.
`

// System says what the fields are and in which form to answer.
func (markers) System(spec *signature.Spec, briefing string) string {
	var form strings.Builder
	form.WriteString("Answer in exactly this form, each value under the marker of its field:\n\n")
	outputs := spec.Outputs()
	for _, f := range outputs {
		writeMarker(&form, f.Name)
		form.WriteString("\n" + placeholder(f.Name) + "\n\n")
	}
	writeMarker(&form, endName(outputs))
	form.WriteString("\n\n" + valueRules)
	return writeSystem(spec, form.String(), briefing)
}

// Question puts the inputs under their markers.
func (markers) Question(spec *signature.Spec, inputs signature.Values) string {
	var b strings.Builder
	outputs := spec.Outputs()
	b.Grow(64 + 32*len(outputs) + sizeOf(inputs))
	writeInputs(&b, inputs)
	b.WriteString("Answer with ")
	for i, f := range outputs {
		if i > 0 {
			b.WriteString(", then ")
		}
		writeMarker(&b, f.Name)
	}
	b.WriteString(", and end with ")
	writeMarker(&b, endName(outputs))
	b.WriteByte('.')
	return b.String()
}

// writeInputs puts each value under its marker: text as it is, anything else as
// JSON. So is text with markers of its own, which would pass for other inputs.
func writeInputs(b *strings.Builder, values signature.Values) {
	for _, v := range values {
		writeMarker(b, v.Name)
		b.WriteByte('\n')
		if mayMark(v.JSON) && hasMarker(plainText(v.JSON)) {
			b.Write(v.JSON)
		} else {
			writePlain(b, v.JSON)
		}
		b.WriteString("\n\n")
	}
}

// mayMark spares most values the look for markers: those without their brackets,
// and without escapes that may be some.
func mayMark(value json.RawMessage) bool {
	return bytes.Contains(value, []byte("[[")) || bytes.Contains(value, []byte(`\u`))
}

// Answer writes outputs in the form that is asked for.
func (markers) Answer(spec *signature.Spec, outputs signature.Values) string {
	var b strings.Builder
	fields := spec.Outputs()
	for _, f := range fields {
		text := notGiven
		if value, given := outputs.Get(f.Name); given {
			text = written(f, value)
		} else if !f.Required {
			continue
		}
		writeMarker(&b, f.Name)
		b.WriteString("\n" + text + "\n\n")
	}
	writeMarker(&b, endName(fields))
	return b.String()
}

// written is a value as it is read back: as text, or as JSON where the text
// would be read as something else.
func written(f signature.Field, value json.RawMessage) string {
	text := plainText(value)
	if string(value) == text {
		return text
	}
	if formOnly(f.Name, text) || strings.Contains(text, "[[") || strings.Contains(text, "\r") || strings.Contains(text, "</think") {
		return string(value)
	}
	if read, err := readValue(f, given{text: strings.TrimSpace(text)}); err == nil && read != nil && equalJSON(read, value) {
		return text
	}
	return string(value)
}

// Read reads that form, and all others.
func (markers) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	return read(spec, reply, truncated, endsMarkers)
}

// endsMarkers reports whether a reply had come to its end marker.
func endsMarkers(r reply) bool { return ended(r.outputs, r.text) }
