package module

import (
	"strings"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// markers is the adapter of field markers.
type markers struct{}

// System says what the fields are and in which form to answer.
func (markers) System(spec *signature.Spec, briefing string) string {
	return prompt.Markers(spec, briefing)
}

// Question puts the inputs under their markers.
func (markers) Question(spec *signature.Spec, inputs signature.Values) string {
	return prompt.Question(inputs, prompt.MarkersReminder(spec.Outputs()))
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
