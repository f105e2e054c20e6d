package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
)

// data is the examples of -train, -dev and -test, and the rows that they were made of.
type data struct {
	train, dev, test []example
	rows             map[string]json.RawMessage // by rowKey
}

// rowKey identifies an example. Examples without IDs have the same numbers in several files.
func rowKey(e example) string {
	return strings.Join([]string{e.ID, e.In.String(), e.Want.String(), e.Note}, "\n")
}

// readData reads the files with examples.
func (c *command) readData() (err error) {
	d := &c.data
	d.rows = map[string]json.RawMessage{}
	notes := "-train" // where a search reads them
	if c.optimizer == "" {
		notes = "-dev"
	}
	for _, set := range []struct {
		flag, file string
		examples   *[]example
	}{{"-train", c.train, &d.train}, {"-dev", c.dev, &d.dev}, {"-test", c.test, &d.test}} {
		if *set.examples, err = c.readSet(set.file, set.flag == notes); err != nil {
			return fmt.Errorf("%s: %w", set.flag, err)
		}
	}
	searched, shared := map[string]bool{}, 0
	for _, e := range slices.Concat(d.train, d.dev) {
		searched[inputs(e)] = true
	}
	for _, e := range d.test {
		if searched[inputs(e)] {
			shared++
		}
	}
	if shared > 0 {
		fmt.Fprintf(c.stderr, "warning: %d of the %d examples of -test are also in -train or -dev, so the score after the "+
			"search will be too high; remove them from one of the files\n", shared, len(d.test))
	}
	return nil
}

// inputs returns the inputs of an example in the same form, however a file writes them.
func inputs(e example) string {
	var in any
	_ = json.Unmarshal([]byte(e.In.String()), &in)
	text, _ := json.Marshal(in)
	return string(text)
}

// readSet reads a file with examples, if there is one. If noted, it must have the column that -feedback names.
func (c *command) readSet(file string, noted bool) ([]example, error) {
	if file == "" {
		return nil, nil
	}
	var o evaluate.ReadOptions
	if noted {
		o.Note = c.feedback
	}
	examples, err := evaluate.ReadFile(file, c.sig, &o)
	if err != nil {
		return nil, err
	}
	if o.Note != "" && !slices.ContainsFunc(examples, func(e example) bool { return e.Note != "" }) {
		return nil, fmt.Errorf("no example has a text in the column %q, which -feedback names", o.Note)
	}
	rows, err := readRows(file)
	if err != nil {
		return nil, err
	}
	for i, e := range examples {
		c.data.rows[rowKey(e)] = rows[i]
	}
	return examples, nil
}

// readRows returns the rows of a file that evaluate.ReadFile can read, with all columns.
func readRows(file string) (rows []json.RawMessage, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		err = json.Unmarshal(text, &rows)
	case ".jsonl":
		for line := range bytes.Lines(text) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				rows = append(rows, line)
			}
		}
	case ".csv":
		var records [][]string
		if records, err = csv.NewReader(bytes.NewReader(text)).ReadAll(); err != nil {
			return nil, err
		}
		for _, record := range records[1:] {
			row := map[string]string{}
			for i, name := range records[0] {
				row[strings.TrimSpace(name)] = record[i]
			}
			raw, _ := json.Marshal(row) // texts are always encoded
			rows = append(rows, raw)
		}
	}
	return rows, err
}

const metricUsage = "exact, text (apart from case, punctuation and articles), f1 (words in common), contains, " +
	"fields (the share that is equal), set, within:0.1, or url:http://… " +
	`(gets {"row": …, "got": …} and answers {"score": 0.5, "feedback": "…"})`

var metrics = map[string]func(outputs ...string) metric{
	"exact": evaluate.ExactMatch[values, values], "text": evaluate.TextMatch[values, values],
	"f1": evaluate.F1[values, values], "contains": evaluate.Contains[values, values],
	"fields": evaluate.JSONFields[values, values], "set": evaluate.SetMatch[values, values],
}

// metricOf returns the metric that -metric names. It tries it on an expected answer, before any other costs money.
func (d *data) metricOf(ctx context.Context, text string) (m metric, err error) {
	name, argument, _ := strings.Cut(text, ":")
	switch known := metrics[text]; {
	case known != nil:
		m = known()
	case name == "within":
		tolerance, err := strconv.ParseFloat(argument, 64)
		if err != nil || !(tolerance >= 0) {
			return nil, fmt.Errorf("-metric %s: write a number after the colon, such as within:0.1", text)
		}
		m = evaluate.Within[values, values](tolerance)
	case name == "url":
		m = d.remote(argument)
	default:
		return nil, fmt.Errorf("no metric is named %q; -metric is one of %s", text, metricUsage)
	}
	if _, err := m(ctx, d.dev[0], &module.Prediction[values]{Output: d.dev[0].Want}); err != nil {
		return nil, fmt.Errorf("-metric %s cannot score the first example of -dev: %w", text, err)
	}
	return m, nil
}

// remote returns a metric that a server computes.
func (d *data) remote(url string) metric {
	return func(ctx context.Context, e example, got *module.Prediction[values]) (s module.Score, err error) {
		body, err := json.Marshal(map[string]any{"row": d.rows[rowKey(e)], "got": got.Output})
		if err != nil {
			return s, err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return s, err
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return s, err
		}
		defer response.Body.Close()
		reply, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		var score struct {
			Score    *float64
			Feedback string
		}
		if err != nil || json.Unmarshal(reply, &score) != nil || score.Score == nil || response.StatusCode != http.StatusOK {
			const want = `{"score": 0.5, "feedback": "…"}`
			return s, fmt.Errorf("the server answered %s: %.200q; want %s", response.Status, reply, want)
		}
		if score.Feedback == "" && *score.Score < 1 {
			score.Feedback = e.Note
		}
		return module.Score{Value: *score.Score, Feedback: score.Feedback}, nil
	}
}
