package replies

import (
	"encoding/json"
	"strings"

	"github.com/writ-go/writ/signature"
)

// WriteMarker writes the marker of a field.
func WriteMarker(b *strings.Builder, field string) {
	b.WriteString("[[ ## ")
	b.WriteString(field)
	b.WriteString(" ## ]]")
}

// Placeholder returns the placeholder of a value in the reply format that the prompt shows. Models sometimes copy the
// format before they fill it in.
func Placeholder(field string) string { return "{" + field + "}" }

// NotGiven replaces a required output that a demo lacks.
const NotGiven = "(not given in this example)"

// Written returns the notation of a value under its marker: text, or JSON if the text would be read as a different
// value.
func Written(f signature.Field, value json.RawMessage) string {
	text := PlainText(value)
	if string(value) != text && !isPlaceholder(f, text) && !strings.Contains(text, "[[") &&
		!strings.Contains(text, "\r") &&
		!thoughtEnd.MatchString(text) && readsAs(f, text, value) {
		return text
	}
	if written := string(value); readsAs(f, written, value) {
		return written
	}
	return string(Quote(text))
}

// readsAs reports whether text under the marker of a field is read as the value.
func readsAs(f signature.Field, text string, value json.RawMessage) bool {
	read, err := readValue(f, fieldValue{text: text}, false)
	return err == nil && read != nil && equalJSON(read, value)
}

// Fenced returns text in a fence that is longer than any fence in the text. The tag names its language.
func Fenced(tag, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + tag + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}
