package replies

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// PlainText returns a JSON string's content, and any other value as JSON.
func PlainText(value json.RawMessage) string {
	if n := len(value); n > 1 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
		return string(value[1 : n-1]) // it has no escapes
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

// quotedText returns a JSON string's content. It fails for null, which also decodes into a Go string, and for an
// unpaired surrogate escape.
func quotedText(value string) (text string, ok bool) {
	ok = strings.HasPrefix(value, `"`) && json.Unmarshal([]byte(value), &text) == nil
	whole := !strings.Contains(text, "\ufffd") || strings.Contains(value, "\ufffd") ||
		strings.Contains(strings.ToLower(value), `\ufffd`)
	return text, ok && whole
}

// Quote returns text as a JSON string.
func Quote(text string) json.RawMessage {
	if strings.IndexFunc(text, mustEscape) < 0 {
		return append(append(append(make(json.RawMessage, 0, len(text)+2), '"'), text...), '"')
	}
	quoted, _ := json.Marshal(text) // a string always encodes
	return quoted
}

// mustEscape reports whether encoding/json may escape a character.
func mustEscape(r rune) bool {
	return r < ' ' || r >= utf8.RuneSelf || strings.ContainsRune(`"\<>&`, r)
}
