package evaluate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// csvRows calls add for each row below the header.
func csvRows(text []byte, add func(row) error) error {
	r := csv.NewReader(bytes.NewReader(text))
	var header []string
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, csv.ErrFieldCount) {
			return wrongCount(r, record, header)
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			return position{parse.Line, parse.Column}.errorf("%w", parse.Err)
		}
		if header == nil {
			if header, err = csvHeader(r, record); err != nil {
				return err
			}
			continue
		}
		line, _ := r.FieldPos(0)
		one := row{position: position{line: line}}
		for i, value := range record {
			if header[i] != "" {
				line, column := r.FieldPos(i)
				c := cell{position: position{line, column}, name: header[i], text: value}
				if !utf8.ValidString(value) {
					return c.errorf("invalid UTF-8")
				}
				one.cells = append(one.cells, c)
			}
		}
		if err := add(one); err != nil {
			return err
		}
	}
}

// wrongCount returns the error for a row that does not have as many cells as the header.
func wrongCount(r *csv.Reader, record, header []string) error {
	advice := ""
	if len(record) > len(header) {
		advice = "; quote a string that contains a comma"
	}
	line, column := r.FieldPos(0)
	return position{line, column}.errorf("the row has %s, but the header has %s%s",
		display.Plural(len(record), "cell"), display.Plural(len(header), "column"), advice)
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

// csvValue converts a cell to a JSON value for a field, or returns nil if the value is missing. A JSON number, boolean,
// list or object is read as such if the field accepts it. All other cells are strings.
func csvValue(text string, f signature.Field) json.RawMessage {
	accepts := func(raw json.RawMessage) bool {
		return json.Valid(raw) && (f.Schema == nil || len(f.Schema.Validate(raw)) == 0)
	}
	null, quoted := json.RawMessage("null"), replies.Quote(text)
	value := json.RawMessage(strings.TrimSpace(text))
	if lower := strings.ToLower(string(value)); lower == "true" || lower == "false" {
		value = json.RawMessage(lower) // Python writes True, and spreadsheets write TRUE
	}
	switch {
	case len(value) == 0 && (!f.Required || !accepts(quoted)):
		return nil
	case text == "" && accepts(null):
		return null
	case !bytes.HasPrefix(value, []byte(`"`)) && string(value) != "null" && accepts(value):
		return value
	case accepts(quoted) || !json.Valid(value):
		return quoted
	}
	return value // the caller reports that the field does not accept it
}
