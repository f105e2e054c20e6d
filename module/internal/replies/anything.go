package replies

import (
	"encoding/json"
	"strings"

	"github.com/writ-go/writ/signature"
)

// pythonic reads what a program would make of a text, where anything is asked for: True,
// {'a': None}. Any other text is a text there.
func pythonic(f signature.Field, text string) json.RawMessage {
	if f.Schema.AnyText() || strings.IndexByte("TFNu{[", text[0]) < 0 || !shapeOf(f).any {
		return nil
	}
	if value, known := literals[text]; known {
		return json.RawMessage(value)
	}
	if text[0] != '{' && text[0] != '[' {
		return nil
	}
	l := &lax{text: text}
	if l.certain(l.value()) != nil || l.mended {
		return nil
	}
	return l.out.Bytes()
}
