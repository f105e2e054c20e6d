package module

import (
	"encoding/json"
	"strings"

	"github.com/writ-go/writ/tools"
)

// Bounds of what is looked at, and said, of results that are the text of JSON.
const (
	jsonTextBytes = 64 << 10 // of a result
	jsonTextKeys  = 10
	jsonTextKey   = 40 // bytes of a key
	jsonTextTools = 5  // in one observation
)

// jsonTexts names the tools that returned the JSON of an object, or of a list of objects, to
// the last program as text. It names each tool once a run, and none if the program succeeded
// and used JSON.parse.
func (r *codeRun) jsonTexts() string {
	out := r.outcome
	if out == nil || out.Failure == nil && strings.Contains(r.last().Code, "JSON.parse") {
		return ""
	}
	var b strings.Builder
	said := 0
	for _, c := range out.Calls {
		if r.parsable[c.Tool] || said == jsonTextTools {
			continue
		}
		form, ok := jsonTextForm(c.Result)
		if !ok {
			continue
		}
		if r.parsable == nil {
			r.parsable = map[string]bool{}
		}
		r.parsable[c.Tool] = true
		said++
		b.WriteString("\n" + c.Tool + " returned JSON text" + form + ": use JSON.parse on its result.")
	}
	if said == 0 {
		return ""
	}
	return "\n" + b.String()
}

// jsonTextForm says what a result is that is the text of JSON. It reports false for any
// other.
func jsonTextForm(result json.RawMessage) (form string, ok bool) {
	text := beginningOf(result)
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

// beginningOf is the beginning of a result that is a string; it is empty for others.
func beginningOf(result json.RawMessage) (text string) {
	if len(result) == 0 || result[0] != '"' {
		return ""
	}
	if len(result) <= jsonTextBytes {
		_ = json.Unmarshal(result, &text) // of what is no string, there is nothing to say
		return text
	}
	const escape = len(`\u0000`) // which the cut may be in
	for back := range escape {
		part := append(result[:jsonTextBytes-back:jsonTextBytes-back], '"')
		if json.Unmarshal(part, &text) == nil {
			return text
		}
	}
	return ""
}

// firstKeys lists the first keys of an object that are identifiers. The end of the object
// may be missing.
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
