package module

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// markers is the adapter of field markers.
type markers struct{}

// valueRules is what makes one reading of a value the right one.
const valueRules = `Text is written as it is, or as a JSON string if it is empty or contains lines like these markers; anything else is JSON. A code fence around a value is no part of it.`

// System says what the fields are and in which form to answer.
func (markers) System(spec *signature.Spec, briefing string) string {
	var form strings.Builder
	form.WriteString("Answer in exactly this form, each value under the marker of its field:\n\n")
	outputs := spec.Outputs()
	for _, f := range outputs {
		replies.WriteMarker(&form, f.Name)
		form.WriteString("\n" + replies.Placeholder(f.Name) + "\n\n")
	}
	replies.WriteMarker(&form, replies.EndName(outputs))
	form.WriteString("\n\n" + valueRules)
	if slices.ContainsFunc(outputs, optional) {
		form.WriteString(" Leave out the marker of an optional field (?) that has no value.")
	}
	form.WriteByte('\n')
	return writeSystem(spec, form.String(), briefing)
}

func optional(f signature.Field) bool { return !f.Required }

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
		replies.WriteMarker(&b, f.Name)
	}
	b.WriteString(", and end with ")
	replies.WriteMarker(&b, replies.EndName(outputs))
	b.WriteByte('.')
	return b.String()
}

// writeInputs puts each value under its marker: text as it is, anything else as
// JSON. So is text with markers of its own, which would pass for other inputs.
func writeInputs(b *strings.Builder, values signature.Values) {
	for _, v := range values {
		replies.WriteMarker(b, v.Name)
		b.WriteByte('\n')
		if mayMark(v.JSON) && replies.HasMarker(replies.PlainText(v.JSON)) {
			b.Write(v.JSON)
		} else {
			b.WriteString(replies.PlainText(v.JSON))
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

// Read reads that form, and all others.
func (markers) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	values, err := replies.Read(spec, reply, truncated, replies.Markers)
	return values, readError(err)
}
