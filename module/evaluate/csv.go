package evaluate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// csvRows reads the lines below the header.
func csvRows(text []byte) ([]row, error) {
	r := csv.NewReader(bytes.NewReader(text))
	var header []string
	var rows []row
	for {
		record, err := r.Read()
		if errors.Is(err, csv.ErrFieldCount) {
			return nil, wrongCount(r, record, header)
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, position{parse.Line, parse.Column}.errorf("%w", parse.Err)
		}
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, position{}.errorf("%w", err)
		}
		if header == nil {
			if header, err = csvHeader(r, record); err != nil {
				return nil, err
			}
			continue
		}
		line, _ := r.FieldPos(0)
		one := row{position: position{line: line}}
		for i, value := range record {
			if header[i] != "" {
				line, column := r.FieldPos(i)
				one.cells = append(one.cells, cell{position: position{line, column}, name: header[i], text: value})
			}
		}
		rows = append(rows, one)
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
	header := make([]string, len(record))
	for i, name := range record {
		name = strings.TrimSpace(name)
		if name != "" && slices.Contains(header[:i], name) {
			line, column := r.FieldPos(i)
			return nil, position{line, column}.errorf("the column %q is repeated", name)
		}
		header[i] = name
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
