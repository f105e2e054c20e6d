package evaluate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/writ-go/writ/signature"
)

// Write writes examples in a format that [Read] reads: the ID, the inputs, the expected outputs and, if there are any,
// the groups, weights and notes. An example that does not fit the signature is an error. In CSV, an empty optional text
// becomes a missing value.
func Write[In, Out any](
	w io.Writer, format Format, sig *signature.Signature[In, Out], examples []Example[In, Out],
) error {
	switch {
	case w == nil:
		return errors.New("evaluate: the writer is nil")
	case sig == nil:
		return errors.New("evaluate: the signature is nil")
	}
	rows := make([]signature.Values, len(examples))
	for i, e := range examples {
		var err error
		if rows[i], err = valuesOf(sig, e); err != nil {
			return fmt.Errorf("evaluate: example %d, %q: %w", i+1, e.ID, err)
		}
	}
	switch format {
	case JSONL:
		return writeJSON(w, rows, "", "\n", "\n")
	case JSON:
		return writeJSON(w, rows, "[\n", ",\n", "\n]\n")
	case CSV:
		return writeCSV(w, rows, sig.Spec())
	}
	return fmt.Errorf("evaluate: the format %q is not supported; use jsonl, json or csv", string(format))
}

// valuesOf returns an example as the values of a row.
func valuesOf[In, Out any](sig *signature.Signature[In, Out], e Example[In, Out]) (signature.Values, error) {
	values, err := sig.Encode(e.In)
	if err != nil {
		return nil, err
	}
	want, err := encode(e.Want)
	if err != nil {
		return nil, err
	}
	if string(want) != "{}" { // it is labeled
		turn, err := sig.Turn(e.In, e.Want)
		if err != nil {
			return nil, err
		}
		for _, f := range sig.Spec().Outputs() {
			if raw, found := turn.Get(f.Name); found {
				values = append(values, signature.Value{Name: f.Name, JSON: raw})
			}
		}
	}
	labels := labelNames(sig.Spec())
	label := func(name, text string) {
		if text != "" {
			values = append(values, signature.Value{Name: name, JSON: literal(text)})
		}
	}
	label(labels[0], e.ID)
	label(labels[1], e.Group)
	if e.Weight != 0 {
		weight := strconv.FormatFloat(e.Weight, 'g', -1, 64)
		values = append(values, signature.Value{Name: labels[2], JSON: json.RawMessage(weight)})
	}
	label(labels[3], e.Note)
	return values, nil
}

func writeJSON(w io.Writer, rows []signature.Values, before, between, after string) error {
	var b bytes.Buffer
	b.WriteString(before)
	for i, row := range rows {
		if i > 0 {
			b.WriteString(between)
		}
		raw, err := row.MarshalJSON()
		if err != nil {
			return fmt.Errorf("evaluate: example %d: %w", i+1, err)
		}
		b.Write(raw)
	}
	if len(rows) > 0 || before != "" {
		b.WriteString(after)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func writeCSV(w io.Writer, rows []signature.Values, spec *signature.Spec) error {
	labels := labelNames(spec)
	columns := []string{labels[0]}
	for _, f := range append(spec.Inputs(), spec.Outputs()...) {
		columns = append(columns, f.Name)
	}
	for _, label := range labels[1:] {
		for _, row := range rows {
			if _, found := row.Get(label); found {
				columns = append(columns, label)
				break
			}
		}
	}
	c := csv.NewWriter(w)
	if err := c.Write(columns); err != nil {
		return err
	}
	for i, row := range rows {
		record := make([]string, len(columns))
		for j, name := range columns {
			raw, _ := row.Get(name)
			f, isField := spec.Field(name)
			var err error
			if isField {
				record[j], err = csvCell(raw, f)
			} else if raw != nil {
				record[j], err = textOf(raw)
			}
			if err != nil {
				return fmt.Errorf("evaluate: example %d, %q: %w", i+1, name, err)
			}
		}
		if err := c.Write(record); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
