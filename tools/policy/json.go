package policy

import (
	"bytes"
	"encoding/json"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// JSON returns JSON with every secret in its strings, numbers and property names replaced. A number with a secret
// becomes a string. Several names in one object may become equal. Everything else is unchanged.
func (s *Secrets) JSON(text json.RawMessage) json.RawMessage {
	if s == nil || !s.mayContainJSON(string(text)) {
		return text
	}
	var out []byte
	from := 0 // the text before it is in out
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		start := int(d.InputOffset())
		token, err := d.Token()
		end := int(d.InputOffset())
		var value string
		switch token := token.(type) {
		case string:
			value = token
			start += bytes.IndexByte(text[start:end], '"')
		case json.Number:
			value = token.String()
			start = end - len(token)
		case nil:
			if err != nil { // at the end, or what follows is not JSON
				value = string(text[start:])
				end = len(text)
			}
		}
		if clean := s.Text(value); clean != value {
			out = append(append(out, text[from:start]...), jsonvalue.Text(clean)...)
			from = end
		}
		switch {
		case err != nil && from == 0:
			return text
		case err != nil:
			return append(out, text[from:]...)
		}
	}
}
