package replies

import (
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/signature"
)

// readExact reads the form that was asked for, if it is all that a reply is, as of
// most: every marker once and on a line of its own, in the order of the fields. It
// spares them the search for what may be wrong. What it does not read, or not for
// certain, is left to the others.
func readExact(r reply) signature.Values {
	outputs, rest := r.outputs, strings.TrimSpace(r.text)
	if r.truncated || !utf8.ValidString(rest) || strings.IndexByte(rest, '<') >= 0 || strings.IndexByte(rest, '\r') >= 0 || repeatsForm(r) {
		return nil // tags and tokens, too
	}
	values := make(signature.Values, 0, len(outputs))
	remarked := false // beside a value that is no text
	for _, f := range outputs {
		text, ok := cutMarker(rest, f.Name)
		if !ok || text == "" || text[0] != '\n' {
			return nil
		}
		end := strings.Index(text, "[[")
		if end < 0 || text[end-1] != '\n' {
			return nil
		}
		text, rest = aligned(text[:end]), text[end:]
		if formOnly(f.Name, text) {
			return nil
		}
		value, err := readValue(f, given{text: text})
		if err != nil || value == nil {
			return nil
		}
		remarked = remarked || !f.Schema.AnyText() && string(value) != strings.TrimSpace(text)
		values = append(values, signature.Value{Name: f.Name, JSON: value})
	}
	if end, ok := cutMarker(rest, EndName(outputs)); !ok || end != "" || r.reasoned(values) != nil || (remarked || r.times(values) != nil) && r.otherwiseMeasured(values) != nil {
		return nil
	}
	return values
}

// cutMarker returns what stands behind the marker of a name, as it is asked for.
func cutMarker(text, name string) (rest string, ok bool) {
	for _, part := range [...]string{"[[ ## ", name, " ## ]]"} {
		if text, ok = strings.CutPrefix(text, part); !ok {
			return "", false
		}
	}
	return text, true
}
