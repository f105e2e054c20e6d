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
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		at := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			w.value(at, len(text), string(text[at:]), s) // what is not JSON, or nothing
			return w.done()
		}
		end := int(d.InputOffset())
		switch token := token.(type) {
		case string:
			start := at + bytes.IndexByte(text[at:end], '"')
			if bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t\r\n"), []byte(":")) {
				w.name(start, end, token, s)
			} else {
				w.value(start, end, token, s)
			}
		case json.Number:
			w.value(end-len(token), end, token.String(), s)
		}
	}
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

func (w *rewriting) name(start, end int, name string, s *Secrets) {
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
