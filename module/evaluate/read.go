package evaluate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// ReadOptions configures [Read] and [ReadFile]. The zero value, and nil, are the defaults.
type ReadOptions struct {
	// Fields maps names of fields to their names in the file, where these differ. Besides the fields of the signature,
	// it can have id, group, weight and note, which are the other parts of an Example.
	Fields map[string]string

	// Unlabeled accepts rows without expected outputs, for metrics that do not need them.
	Unlabeled bool
}

// Read reads examples. The format is "jsonl" (one JSON object on each line), "json" (an array of objects) or "csv"
// (comma-separated values with a header). Each object or CSV row is an example; its values have the names of the
// signature's fields. Nil options are the defaults.
//
// Every value must match the schema of its field. A row may also have the columns id, group, weight and note. If the
// signature has a field with one of these names, the column is called example_id, and so on. Other values are ignored.
// An example without an ID gets its number, counted from 1. Errors name the line, the column and the field.
//
// In a CSV file, a cell is read as JSON, such as 3, true or ["a", "b"], if its field accepts the JSON value, and
// otherwise as a string. An empty cell is an empty string if the field requires a string, and otherwise a missing
// value. Package encoding/csv reads CR LF in a string as LF.
func Read[In, Out any](
	r io.Reader, format string, sig *signature.Signature[In, Out], o *ReadOptions,
) ([]Example[In, Out], error) {
	return read(r, "examples", format, sig, o)
}

// ReadFile reads a file of examples. The extension of the file is its format: .jsonl, .json or .csv.
func ReadFile[In, Out any](
	path string, sig *signature.Signature[In, Out], o *ReadOptions,
) ([]Example[In, Out], error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	defer file.Close()
	return read(file, path, strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), "."), sig, o)
}

// read reads examples. Errors begin with the name of the data.
func read[In, Out any](
	r io.Reader, name string, format string, sig *signature.Signature[In, Out], o *ReadOptions,
) ([]Example[In, Out], error) {
	switch {
	case r == nil:
		return nil, errors.New("evaluate: the reader is nil")
	case sig == nil:
		return nil, errors.New("evaluate: the signature is nil")
	}
	if o == nil {
		o = &ReadOptions{}
	}
	reader, err := newReader[In, Out](sig.Spec(), *o)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %s: %w", name, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %s: %w", name, err)
	}
	if err := readRows(text, format, reader.add); err != nil {
		return nil, fmt.Errorf("evaluate: %s:%w", name, err)
	}
	if err := reader.checkColumns(); err != nil {
		return nil, fmt.Errorf("evaluate: %s: %w", name, err)
	}
	return reader.list, nil
}

// row holds the values of an example.
type row struct {
	position
	cells []cell
}

// cell is a value as it is written in the file.
type cell struct {
	position
	name string
	raw  json.RawMessage // the value in a JSON file, or nil in a CSV file
	text string          // the value in a CSV file
}

// position is a line and a column of a file, from 1, or 0 if unknown.
type position struct{ line, column int }

// errorf returns an error that begins with the position. The caller puts the name of the file before it.
func (p position) errorf(format string, args ...any) error {
	at := ""
	if p.line > 0 {
		at = strconv.Itoa(p.line) + ":"
		if p.column > 0 {
			at += strconv.Itoa(p.column) + ":"
		}
	}
	return fmt.Errorf(at+" "+format, args...)
}

// readRows reads the rows of a file.
func readRows(text []byte, format string, add func(row) error) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch format {
	case "jsonl":
		return jsonLines(text, add)
	case "json":
		return jsonArray(text, add)
	case "csv":
		return csvRows(text, add)
	}
	return position{}.errorf("the format %q is not supported; use jsonl, json or csv", format)
}

// reader converts rows to examples.
type reader[In, Out any] struct {
	options ReadOptions
	spec    *signature.Spec
	outputs *signature.Spec // like spec, but with optional outputs if Unlabeled is set

	list    []Example[In, Out]
	labels  []string        // the names of the ID, group, weight and note in the file
	ids     map[string]bool // the IDs of the examples
	columns map[string]bool // the names of the values in all rows
}

func newReader[In, Out any](spec *signature.Spec, o ReadOptions) (*reader[In, Out], error) {
	labels := labelNames(spec)
	for name := range o.Fields {
		if _, found := spec.Field(name); !found && !slices.Contains(labels, name) {
			return nil, fmt.Errorf("ReadOptions.Fields has %q, which is not a field of the signature", name)
		}
	}
	for i, name := range labels {
		labels[i] = cmp.Or(o.Fields[name], name)
	}
	r := &reader[In, Out]{
		options: o, spec: spec, outputs: spec, labels: labels, ids: map[string]bool{}, columns: map[string]bool{},
	}
	if !o.Unlabeled {
		return r, nil
	}
	for _, f := range spec.Outputs() {
		var err error
		f.Required = false
		if r.outputs, err = r.outputs.WithField(f.Name, f); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// checkColumns checks that there are examples, and that some row has each name of ReadOptions.Fields.
func (r *reader[In, Out]) checkColumns() error {
	if len(r.list) == 0 {
		return errors.New("there are no examples")
	}
	for name, column := range r.options.Fields {
		if !r.columns[column] {
			return fmt.Errorf("ReadOptions.Fields maps %s to %q, but the rows have only %q", name, column,
				slices.Sorted(maps.Keys(r.columns)))
		}
	}
	return nil
}

// labelNames returns the default names of the ID, group, weight and note.
func labelNames(spec *signature.Spec) []string {
	names := []string{"id", "group", "weight", "note"}
	for i, name := range names {
		if _, found := spec.Field(name); found {
			names[i] = "example_" + name
		}
	}
	return names
}

func (r *reader[In, Out]) add(row row) error {
	e, err := r.example(row)
	if err != nil {
		return err
	}
	e.ID = cmp.Or(e.ID, strconv.Itoa(len(r.list)+1))
	if r.ids[e.ID] {
		return row.errorf("the ID %q is repeated; IDs must be unique", e.ID)
	}
	for _, c := range row.cells {
		r.columns[c.name] = true
	}
	r.list, r.ids[e.ID] = append(r.list, e), true
	return nil
}

func (r *reader[In, Out]) example(row row) (e Example[In, Out], err error) {
	var weight string
	for i, text := range []*string{&e.ID, &e.Group, &weight, &e.Note} {
		if *text, err = row.label(r.labels[i]); err != nil {
			return e, err
		}
	}
	if weight != "" {
		e.Weight, err = strconv.ParseFloat(strings.TrimSpace(weight), 64)
		if err != nil || !validWeight(e.Weight) {
			c := row.cell(r.labels[2])
			return e, c.errorf("%q must be a number from 1e-9 to 1e9, not %q", c.name, weight)
		}
	}
	inputs, err := r.values(row, r.spec.Inputs())
	if err != nil {
		return e, err
	}
	if inputs, err = r.spec.Encode(inputs); err != nil {
		return e, row.errorf("%w", err)
	}
	if e.In, err = into[In](inputs); err != nil {
		return e, row.errorf("cannot decode the inputs: %w", err)
	}
	outputs, err := r.values(row, r.outputs.Outputs())
	if err != nil {
		return e, err
	}
	raw, err := outputs.MarshalJSON()
	if err == nil {
		outputs, err = r.outputs.Decode(raw)
	}
	if err != nil {
		return e, row.errorf("%w", err)
	}
	if e.Want, err = into[Out](outputs); err != nil {
		return e, row.errorf("cannot decode the expected outputs: %w", err)
	}
	return e, nil
}

// into decodes values as a Go value.
func into[T any](values signature.Values) (v T, err error) {
	raw, err := values.MarshalJSON()
	if err == nil {
		err = schema.Unmarshal(raw, &v)
	}
	return v, err
}

// values returns the values of the fields in a row.
func (r *reader[In, Out]) values(row row, fields []signature.Field) (signature.Values, error) {
	var values signature.Values
	for _, f := range fields {
		name := cmp.Or(r.options.Fields[f.Name], f.Name)
		c := row.cell(name)
		raw := c.value(f)
		switch {
		case raw == nil && f.Required:
			return nil, row.missing(name)
		case raw == nil:
			continue
		case f.Schema != nil:
			if findings := f.Schema.Validate(raw); len(findings) > 0 {
				return nil, c.errorf("field %q: %s", f.Name, schema.Summary(findings))
			}
		}
		values = append(values, signature.Value{Name: f.Name, JSON: raw})
	}
	return values, nil
}

func (r row) cell(name string) *cell {
	for i := range r.cells {
		if r.cells[i].name == name {
			return &r.cells[i]
		}
	}
	return nil
}

// missing returns the error for a required value that a row does not have.
func (r row) missing(name string) error {
	if r.cell(name) != nil {
		return r.cell(name).errorf("field %q: a value is required", name)
	}
	names := make([]string, len(r.cells))
	for i, c := range r.cells {
		names[i] = c.name
	}
	text := fmt.Sprintf("field %q is missing", name)
	if near := similar.Nearest(name, names); near != "" {
		return r.errorf("%s; did you mean %q? If so, map the name in ReadOptions.Fields", text, near)
	}
	slices.Sort(names)
	return r.errorf("%s; the row has %q", text, names)
}

// label returns the ID, group, weight or note of a row as a string, or "" if the row does not have it.
func (r row) label(name string) (string, error) {
	c := r.cell(name)
	switch {
	case c == nil:
		return "", nil
	case c.raw == nil:
		return c.text, nil
	}
	text, err := textOf(c.raw)
	if err != nil {
		return "", c.errorf("%q must be a string, not %s", name, clip(c.raw))
	}
	return text, nil
}

// value converts a cell to a JSON value for a field, or returns nil if the cell or its value is missing.
func (c *cell) value(f signature.Field) json.RawMessage {
	switch {
	case c == nil:
		return nil
	case c.raw == nil:
		return csvValue(c.text, f)
	case string(c.raw) == "null" && !f.Required && f.Schema != nil && len(f.Schema.Validate(c.raw)) > 0:
		return nil // null means that the value is missing
	}
	return c.raw
}
