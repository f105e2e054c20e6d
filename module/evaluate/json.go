package evaluate

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// jsonLines calls add for the object on each line. It skips empty lines.
func jsonLines(text []byte, add func(row) error) error {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		object := bytes.TrimSpace(line)
		if len(object) == 0 {
			continue
		}
		if err := (position{n, 1 + bytes.Index(line, object)}).readObject(object, add); err != nil {
			return err
		}
	}
	return nil
}

// jsonArray calls add for each object of an array.
func jsonArray(text []byte, add func(row) error) error {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return position{1, 1}.errorf("the examples must be a JSON array of objects; " +
			"if each line is an object, use the format jsonl")
	}
	var all json.RawMessage // Unmarshal also rejects trailing data, which a Decoder accepts
	if err := json.Unmarshal(text, &all); err != nil {
		return position{1, 1}.invalid(text, err)
	}
	at, read := position{1, 1}, 0
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token() // the bracket "["
	for d.More() {
		var element json.RawMessage
		_ = d.Decode(&element) // the text is valid
		begin := int(d.InputOffset()) - len(element)
		at, read = at.after(text[read:begin]), begin
		if err := at.readObject(element, add); err != nil {
			return err
		}
	}
	return nil
}

// readObject calls add for an object that begins at p.
func (p position) readObject(text []byte, add func(row) error) error {
	var raw json.RawMessage
	switch err := json.Unmarshal(text, &raw); {
	case err != nil:
		return p.invalid(text, err)
	case !utf8.Valid(text):
		return p.errorf("invalid UTF-8")
	case text[0] != '{':
		return p.errorf("an example must be a JSON object, not %s", clip(text))
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

// invalid returns the error for invalid JSON. The text begins at p.
func (p position) invalid(text []byte, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		p = p.after(text[:max(int(syntax.Offset)-1, 0)])
	}
	return p.errorf("the JSON is invalid: %w", err)
}

// after returns the position of the end of text. The text begins at p.
func (p position) after(text []byte) position {
	if n := bytes.Count(text, []byte("\n")); n > 0 {
		return position{p.line + n, len(text) - bytes.LastIndexByte(text, '\n')}
	}
	return position{p.line, p.column + len(text)}
}
