package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON returns a JSON text with the secrets taken out of its strings, numbers and
// names of properties. It stays JSON, and all else of it stays as it was. A number
// becomes a string; of several names that have become the same, all but the
// first get a number.
func (s *Secrets) JSON(text json.RawMessage) json.RawMessage {
	if s == nil || s.clearly(text) {
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

// clearly reports whether it is plain without reading the text as JSON that there
// is no secret in it.
func (s *Secrets) clearly(text []byte) bool {
	if bytes.Contains(text, []byte(`\u`)) || bytes.Contains(text, []byte(`\/`)) || s.quoting && bytes.IndexByte(text, '\\') >= 0 {
		return false // may be hidden so
	}
	return !s.suspicious(string(text))
}

// tokenEnd returns the end of the string or number that begins at i; of anything
// else, a byte.
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

// isName reports whether the string that ends there is a property's name.
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

// rewriting is a text some tokens of which are replaced.
type rewriting struct {
	text  []byte
	out   []byte // what is before from, rewritten
	from  int
	names map[string]int // how often a name was written
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
	w.out = append(w.out, quote(text, false)...)
	w.from = end
}

func (w *rewriting) done() []byte {
	if w.from == 0 {
		return w.text
	}
	return append(w.out, w.text[w.from:]...)
}
