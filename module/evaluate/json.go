package evaluate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// jsonRows reads objects: the elements of an array, or one from each line. Empty lines are ignored.
func jsonRows(text io.Reader, format Format, limit int, add func(row) error) error {
	at, next := position{1, 1}, position{1, 1}
	a, split := &array{}, bufio.ScanLines
	if format == JSON {
		split = a.split
	}
	s := bufio.NewScanner(text)
	s.Buffer(nil, limit)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, element, err := split(data, atEOF)
		at, next = next, next.after(data[:n])
		return n, element, err
	})
	for s.Scan() {
		object := bytes.TrimLeft(s.Bytes(), " \t\r\n")
		at = at.after(s.Bytes()[:len(s.Bytes())-len(object)])
		if len(object) == 0 {
			continue
		}
		if format == JSON && !a.inside {
			return at.errorf("the examples must be a JSON array of objects; " +
				"for one object on each line, use the format jsonl")
		}
		if err := at.readObject(object, limit, add); err != nil {
			return err
		}
	}
	err := s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = tooLarge(limit)
	}
	if err != nil {
		return next.errorf("%w", err)
	}
	return nil
}

// array splits a text into the elements of a JSON array, and the lines outside of it.
type array struct{ open, ended, inside bool } // inside: the last text was an element

func (a *array) split(data []byte, atEOF bool) (int, []byte, error) {
	if a.inside = a.open; !a.open {
		blank := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
		switch a.open = blank == 0 && !a.ended && bytes.HasPrefix(data, []byte("[")); {
		case a.open:
			return len("["), data[:0], nil
		case blank > 0:
			return blank, data[:blank], nil
		}
		return bufio.ScanLines(data, atEOF)
	}
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case depth == 0 && (c == ',' || c == ']'):
			a.open, a.ended = c == ',', c == ']'
			return i + 1, data[:i], nil
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
	}
	if atEOF {
		return 0, nil, errors.New("the JSON is invalid: the array has no end")
	}
	return 0, nil, nil
}

// readObject reads a row from an object that begins at p.
func (p position) readObject(text []byte, limit int, add func(row) error) error {
	var raw json.RawMessage
	err := json.Unmarshal(text, &raw)
	syntax, invalid := errors.AsType[*json.SyntaxError](err)
	switch commas, _ := jsonvalue.Count(text); {
	case commas > limit/valueBytes:
		return p.errorf("%w", tooLarge(limit))
	case invalid:
		return p.after(text[:max(int(syntax.Offset)-1, 0)]).errorf("the JSON is invalid: %w", err)
	case !utf8.Valid(text):
		return p.errorf("the text is not UTF-8")
	case text[0] != '{':
		return p.errorf("an example must be a JSON object, not %s", clip(bytes.TrimSpace(text)))
	}
	r, read, names := row{position: p}, 0, map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token() // the text is a valid object
	for d.More() {
		name, _ := d.Token()
		c := cell{name: name.(string)}
		_ = d.Decode(&c.raw)
		begin := int(d.InputOffset()) - len(c.raw)
		p, read = p.after(text[read:begin]), begin
		if c.position = p; names[c.name] {
			return c.errorf("the name %q is repeated", c.name)
		}
		names[c.name] = true
		r.cells = append(r.cells, c)
	}
	return add(r)
}
