package policy

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// JSON returns JSON with every secret in its strings, numbers and property names replaced.
// A number with a secret becomes a string. If several names in the text become equal, all
// but the first get a number. Everything else is unchanged.
func (s *Secrets) JSON(text json.RawMessage) json.RawMessage {
	if s == nil || !s.mayContainJSON(string(text)) {
		return text
	}
	var out []byte
	from := 0 // the text before it is in out
	names := map[string]int{}
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
			if bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t\r\n"), []byte(":")) {
				clean = s.numbered(clean, names)
			}
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

// numbered returns a property name with a number if it has been written before.
func (s *Secrets) numbered(name string, written map[string]int) string {
	written[name]++
	if n := written[name]; n > 1 {
		if numbered := fmt.Sprintf("%s (%d)", name, n); s.Text(numbered) == numbered {
			return numbered
		}
	}
	return name
}
