package replies

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// The form that is asked for by markers, whose writer and readers share it.

// marker is the line that a value stands under.
func marker(field string) string { return "[[ ## " + field + " ## ]]" }

// WriteMarker writes the marker of a field.
func WriteMarker(b *strings.Builder, field string) {
	b.WriteString("[[ ## ")
	b.WriteString(field)
	b.WriteString(" ## ]]")
}

// Placeholder is what stands for a value where the prompt shows the form of
// replies. Models repeat that form now and then before they fill it in.
func Placeholder(field string) string { return "{" + field + "}" }

// EndName is the name of the marker that ends a reply.
func EndName(outputs []signature.Field) string {
	name := "completed"
	for slices.ContainsFunc(outputs, func(f signature.Field) bool { return strings.EqualFold(f.Name, name) }) {
		name += "_"
	}
	return name
}

// NotGiven stands for a required output that a demo lacks.
const NotGiven = "(not given in this example)"

// Written is a value as it is read back: as text, or as JSON where the text
// would be read as something else.
func Written(f signature.Field, value json.RawMessage) string {
	text := PlainText(value)
	if string(value) != text && !formOnly(f.Name, text) && !strings.Contains(text, "[[") && !strings.Contains(text, "\r") && !(strings.Contains(text, "</") && thinkEnd.MatchString(text)) && readsAs(f, strings.TrimSpace(text), value) {
		return text
	}
	if written := string(Escaped(value)); readsAs(f, written, value) {
		return written
	}
	return string(insist(value))
}

// readsAs reports whether a value is read of a text under its marker.
func readsAs(f signature.Field, text string, value json.RawMessage) bool {
	read, err := readValue(f, given{text: text})
	return err == nil && read != nil && equalJSON(read, value)
}
