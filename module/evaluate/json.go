package evaluate

import (
	"bytes"
	"encoding/json"
	"errors"
	"sort"
)

// lines finds the line and column of an offset in a text.
type lines struct{ starts []int }

func newLines(text []byte) lines {
	starts := []int{0}
	for i, b := range text {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return lines{starts}
}

func (l lines) at(offset int) position {
	line := sort.SearchInts(l.starts, offset+1)
	return position{line, offset - l.starts[line-1] + 1}
}

// jsonlRows reads one object from each line. Empty lines are ignored.
func jsonlRows(text []byte) ([]row, error) {
	var rows []row
	all, start := newLines(text), 0
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			if err := all.check(line, start); err != nil {
				return nil, err
			}
			row, err := all.row(line, start)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		start += len(line)
	}
	return rows, nil
}

// jsonRows reads an array of objects.
func jsonRows(text []byte) ([]row, error) {
	all := newLines(text)
	if err := all.check(text, 0); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return nil, all.at(0).errorf("the examples must be a JSON array of objects; " +
			"for one object on each line, use the format jsonl")
	}
	var rows []row
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		row, err := all.row(raw, int(d.InputOffset())-len(raw))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// check returns where a text that begins at an offset is not JSON.
func (l lines) check(text []byte, offset int) error {
	var raw json.RawMessage
	err := json.Unmarshal(text, &raw)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return l.at(offset+max(int(syntax.Offset)-1, 0)).errorf("the JSON is invalid: %w", err)
	}
	return err
}

// row reads an object that begins at an offset.
func (l lines) row(text []byte, offset int) (row, error) {
	r := row{position: l.at(offset + len(text) - len(bytes.TrimLeft(text, " \t\r\n")))}
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return r, r.errorf("an example must be a JSON object, not %s", clip(bytes.TrimSpace(text)))
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return r, err
		}
		c := cell{name: name.(string)} // the name of a member
		if err := d.Decode(&c.raw); err != nil {
			return r, err
		}
		c.position = l.at(offset + int(d.InputOffset()) - len(c.raw))
		if r.cell(c.name) != nil {
			return r, c.errorf("the name %q is repeated", c.name)
		}
		r.cells = append(r.cells, c)
	}
	return r, nil
}
