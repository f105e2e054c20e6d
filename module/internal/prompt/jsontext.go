package prompt

import (
	"encoding/json"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Limits of what is said about results that are JSON text.
const (
	maxJSONText   = 1 << 20 // bytes; a longer result is not looked at
	jsonTextKeys  = 10
	jsonTextKey   = 40 // bytes of a key
	jsonTextTools = 5  // in one observation
)

// JSONTexts names the tools that returned a JSON object, or an array of objects, as text to a program. It adds
// them to those that are known, which it leaves out. It returns "" if the program succeeded and used JSON.parse.
func JSONTexts(out *sandbox.Outcome, code string, known map[string]bool) string {
	if out == nil || out.Failure == nil && strings.Contains(code, "JSON.parse") {
		return ""
	}
	var lines []string
	for _, c := range out.Calls {
		if known[c.Tool] || len(lines) == jsonTextTools {
			continue
		}
		if form, ok := jsonTextForm(c.Result); ok {
			known[c.Tool] = true
			lines = append(lines, "\n"+c.Tool+" returned JSON text"+form+": use JSON.parse on its result.")
		}
	}
	if lines == nil {
		return ""
	}
	return "\n" + strings.Join(lines, "")
}

// jsonTextForm describes a result that is the text of a JSON object or of an array of objects.
func jsonTextForm(result json.RawMessage) (form string, ok bool) {
	if jsonvalue.Type(result) != "string" || len(result) > maxJSONText {
		return "", false
	}
	text := json.RawMessage(replies.PlainText(result))
	if !json.Valid(text) {
		return "", false
	}
	v := valueOf(text)
	if v.kind == "array" && len(v.items) > 0 {
		form, v = ", an array of objects", valueOf(v.items[0])
	}
	if v.kind != "object" {
		return "", false
	}
	var keys []string
	for _, m := range v.members[:min(len(v.members), jsonTextKeys)] {
		if len(m.Name) <= jsonTextKey && tools.Identifier(m.Name) {
			keys = append(keys, m.Name)
		}
	}
	if len(keys) > 0 {
		form += " with the keys " + strings.Join(keys, ", ")
	}
	return form, true
}
