package replies

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// unescaped returns the content of a JSON string without escapes, the most frequent case.
func unescaped(value json.RawMessage) ([]byte, bool) {
	n := len(value)
	if n < 2 || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return nil, false
	}
	return value[1 : n-1], true
}

// PlainText returns the content of a JSON string, and any other value as JSON.
func PlainText(value json.RawMessage) string {
	if text, ok := unescaped(value); ok {
		return string(text)
	}
	var text *string
	if json.Unmarshal(value, &text) == nil && text != nil {
		return *text
	}
	if len(value) == 0 {
		return "null"
	}
	return string(value)
}

// quotedText returns the content of a JSON string. It fails for null, which also decodes into a Go string, and for an
// unpaired surrogate escape.
func quotedText(value string) (text string, ok bool) {
	ok = strings.HasPrefix(value, `"`) && json.Unmarshal([]byte(value), &text) == nil
	whole := !strings.Contains(text, "\ufffd") || strings.Contains(value, "\ufffd") ||
		strings.Contains(strings.ToLower(value), `\ufffd`)
	return text, ok && whole
}

// Quote returns text as a JSON string.
func Quote(text string) json.RawMessage {
	if strings.ContainsFunc(text, escaped) {
		quoted, _ := json.Marshal(text) // a string always encodes
		return quoted
	}
	quoted := make([]byte, 0, len(text)+len(`""`))
	return append(append(append(quoted, '"'), text...), '"')
}

// escaped reports whether a character may be written as an escape in a JSON string.
func escaped(r rune) bool {
	return r < ' ' || r >= utf8.RuneSelf || r == '"' || r == '\\' || r == '<' || r == '>' || r == '&'
}
