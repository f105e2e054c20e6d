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
	w := rewriting{text: text}
	for i := 0; i < len(text); {
		end := tokenEnd(text, i)
		switch c := text[i]; {
		case c == '"' && isName(text, end):
			w.name(i, end, s)
		case c == '"':
			w.value(i, end, unquote(text[i:end]), s)
		case end > i+1 || number(c):
			w.value(i, end, string(text[i:end]), s)
		}
		i = end
	}
	return w.done()
}

// tokenEnd returns the end of the string or number that begins at i, or i+1 if there is
// none.
func tokenEnd(text []byte, i int) int {
	switch c := text[i]; {
	case c == '"':
		for i++; i < len(text) && text[i] != '"'; i++ {
			if text[i] == '\\' {
				i++
			}
		}
		return min(i+1, len(text))
	case number(c):
		for i < len(text) && (number(text[i]) || bytes.IndexByte([]byte("+.eE"), text[i]) >= 0) {
			i++
		}
		return i
	default:
		return i + 1
	}
}

func number(c byte) bool { return c == '-' || '0' <= c && c <= '9' }

// isName reports whether the string that ends at end is the name of a property.
func isName(text []byte, end int) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t\r\n"), []byte(":"))
}

func unquote(token []byte) string {
	var text string
	if bytes.IndexByte(token, '\\') >= 0 && json.Unmarshal(token, &text) == nil {
		return text
	}
	return string(bytes.Trim(token, `"`))
}

// rewriting is a text in which tokens are replaced.
type rewriting struct {
	text  []byte
	out   []byte // the text before from, with the replacements
	from  int
	names map[string]int // number of times that a replaced name was written
}

func (w *rewriting) value(start, end int, value string, s *Secrets) {
	if clean := s.Text(value); clean != value {
		w.replace(start, end, clean)
	}
}

func (w *rewriting) name(start, end int, s *Secrets) {
	name := unquote(w.text[start:end])
	clean := s.Text(name)
	if clean == name {
		return
	}
	if w.names == nil {
		w.names = map[string]int{}
	}
	w.names[clean]++
	if n := w.names[clean]; n > 1 {
		if numbered := fmt.Sprintf("%s (%d)", clean, n); s.Text(numbered) == numbered {
			clean = numbered
		}
	}
	w.replace(start, end, clean)
}

func (w *rewriting) replace(start, end int, text string) {
	w.out = append(w.out, w.text[w.from:start]...)
	w.out = append(w.out, jsonvalue.Text(text)...)
	w.from = end
}

func (w *rewriting) done() []byte {
	if w.from == 0 {
		return w.text
	}
	return append(w.out, w.text[w.from:]...)
}
