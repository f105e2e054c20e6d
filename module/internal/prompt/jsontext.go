package prompt

import (
	"encoding/json"
	"strings"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Limits of what is read of results that are JSON text, and of what is said about them.
const (
	jsonTextBytes = 64 << 10 // of a result
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
	text := beginning(result)
	if len(result) <= jsonTextBytes && !json.Valid([]byte(text)) {
		return "", false
	}
	const blanks = " \t\r\n"
	text = strings.TrimLeft(text, blanks)
	if strings.HasPrefix(text, "[") {
		form, text = ", a list of objects", strings.TrimLeft(text[1:], blanks)
	}
	if !strings.HasPrefix(text, "{") {
		return "", false
	}
	keys, err := firstKeys(text)
	if err != nil && len(keys) == 0 {
		return "", false
	}
	if len(keys) > 0 {
		form += " with the keys " + strings.Join(keys, ", ")
	}
	return form, true
}

// beginning returns the beginning of a result that is a string, and "" for any other.
func beginning(result json.RawMessage) (text string) {
	if kindOf(result) != "string" {
		return ""
	}
	if len(result) <= jsonTextBytes {
		_ = json.Unmarshal(result, &text)
		return text
	}
	const escape = len(`\u0000`) // the cut may be in one
	for back := range escape {
		part := append(result[:jsonTextBytes-back:jsonTextBytes-back], '"')
		if json.Unmarshal(part, &text) == nil {
			return text
		}
	}
	return ""
}

// firstKeys returns the first keys of an object that are identifiers. The end of the object may be missing.
func firstKeys(object string) (keys []string, err error) {
	d := json.NewDecoder(strings.NewReader(object))
	_, err = d.Token()
	for err == nil && d.More() && len(keys) < jsonTextKeys {
		var key json.Token
		if key, err = d.Token(); err != nil {
			break
		}
		if name, ok := key.(string); ok && len(name) <= jsonTextKey && tools.Identifier(name) {
			keys = append(keys, name)
		}
		var value json.RawMessage
		err = d.Decode(&value)
	}
	return keys, err
}
