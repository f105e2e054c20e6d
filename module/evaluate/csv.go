package evaluate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/signature"
)

// csvReader fails if a row, which begins when the counts are zero, has too many bytes or commas.
type csvReader struct {
	io.Reader
	limit, bytes, commas int
}

// Read implements [io.Reader].
func (r *csvReader) Read(p []byte) (int, error) {
	if r.bytes > r.limit || r.commas > r.limit/valueBytes {
		return 0, tooLarge(r.limit)
	}
	n, err := r.Reader.Read(p)
	r.bytes, r.commas = r.bytes+n, r.commas+bytes.Count(p[:n], []byte(","))
	return n, err
}

// csvRows reads the lines below the header.
func csvRows(text io.Reader, limit int, add func(row) error) error {
	limited := &csvReader{Reader: text, limit: limit}
	r := csv.NewReader(limited)
	var header []string
	for line := 0; ; {
		record, err := r.Read()
		if errors.Is(err, csv.ErrFieldCount) {
			return wrongCount(r, record, header)
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			return position{parse.Line, parse.Column}.errorf("%w", parse.Err)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return position{line: line + 1}.errorf("%w", err)
		}
		limited.bytes, limited.commas = 0, 0
		line, _ = r.FieldPos(0)
		if header == nil {
			if header, err = csvHeader(r, record); err != nil {
				return err
			}
			continue
		}
		one := row{position: position{line: line}}
		for i, value := range record {
			if header[i] != "" {
				line, column := r.FieldPos(i)
				c := cell{position: position{line, column}, name: header[i], text: value}
				if !utf8.ValidString(value) {
					return c.errorf("the text is not UTF-8")
				}
				one.cells = append(one.cells, c)
			}
		}
		if err := add(one); err != nil {
			return err
		}
	}
}

// wrongCount returns the error about a line that has more or fewer cells than the header.
func wrongCount(r *csv.Reader, record, header []string) error {
	advice := ""
	if len(record) > len(header) {
		advice = "; quote a text that contains a comma"
	}
	line, column := r.FieldPos(0)
	return position{line, column}.errorf("the row has %s, but the header has %s%s",
		plural(len(record), "cell"), plural(len(header), "column"), advice)
}

func csvHeader(r *csv.Reader, record []string) ([]string, error) {
	header, names := make([]string, len(record)), map[string]bool{}
	for i, name := range record {
		name = strings.TrimSpace(name)
		if name != "" && names[name] {
			line, column := r.FieldPos(i)
			return nil, position{line, column}.errorf("the column %q is repeated", name)
		}
		header[i], names[name] = name, true
	}
	return header, nil
}

// csvValue returns a cell as a value of a field, or nil if it is missing.
func csvValue(text string, f signature.Field) json.RawMessage {
	if isText(f) {
		switch nullable := len(f.Schema.Validate(json.RawMessage("null"))) == 0; {
		case text != "" || f.Required && !nullable:
			return literal(text)
		case f.Required:
			return json.RawMessage("null")
		}
		return nil
	}
	trimmed := strings.TrimSpace(text)
	if lower := strings.ToLower(trimmed); lower == "true" || lower == "false" {
		trimmed = lower // as Python and spreadsheets write them
	}
	switch {
	case trimmed == "":
		return nil
	case json.Valid([]byte(trimmed)):
		return json.RawMessage(trimmed)
	}
	return literal(text) // may fit if a text is one of several types, and otherwise is reported
}

func literal(text string) json.RawMessage {
	raw, err := encode(text)
	if err != nil {
		panic(err) // a string is always encoded
	}
	return raw
}

// isText reports whether the values of a field are texts, or null.
func isText(f signature.Field) bool {
	return f.Schema != nil && (f.Schema.AnyText() || isTextSchema(f.Schema.Raw()))
}

func isTextSchema(raw json.RawMessage) bool {
	var s struct {
		Type  any               `json:"type"`
		Enum  []any             `json:"enum"`
		AnyOf []json.RawMessage `json:"anyOf"`
		OneOf []json.RawMessage `json:"oneOf"`
	}
	if json.Unmarshal(raw, &s) != nil {
		return false
	}
	switch t := s.Type.(type) {
	case string:
		return t == "string"
	case []any:
		return slices.Contains(t, any("string")) &&
			!slices.ContainsFunc(t, func(v any) bool { return v != "string" && v != "null" })
	}
	if len(s.Enum) > 0 {
		return !slices.ContainsFunc(s.Enum, func(v any) bool { _, ok := v.(string); return !ok && v != nil })
	}
	alternatives := slices.Concat(s.AnyOf, s.OneOf)
	return len(alternatives) > 0 && !slices.ContainsFunc(alternatives, func(raw json.RawMessage) bool {
		return string(raw) != `{"type":"null"}` && !isTextSchema(raw)
	})
}

// csvCell writes a value of a field as a cell that csvValue reads as the same value.
func csvCell(raw json.RawMessage, f signature.Field) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if isText(f) {
		return textOf(raw)
	}
	return string(raw), nil
}
