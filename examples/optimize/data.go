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
	"strconv"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/signature"
)

type (
	example = evaluate.Example[values, values]
	metric  = evaluate.Metric[values, values]
)

// data is the examples and how answers to them are scored.
type data struct {
	train, dev, test []example
	metric           metric
	rows             map[string]json.RawMessage // the rows of the files, by rowKey
}

func (d *data) read(sig *signature.Signature[values, values], c *config) error {
	d.rows = map[string]json.RawMessage{}
	noted := c.feedback == ""
	for _, set := range []struct {
		file string
		into *[]example
	}{{c.train, &d.train}, {c.dev, &d.dev}, {c.test, &d.test}} {
		if set.file == "" {
			continue
		}
		list, err := evaluate.ReadFile(set.file, sig, &evaluate.ReadOptions{Note: c.feedback})
		if err != nil {
			return err
		}
		rows, err := rowsOf(set.file)
		if err != nil {
			return err
		}
		for i := range list {
			if c.feedback == "" {
				list[i].Note = ""
			}
			noted = noted || list[i].Note != ""
			d.rows[rowKey(list[i])] = rows[i]
		}
		*set.into = list
	}
	if !noted {
		return fmt.Errorf("no example has a text in the column %q, which -feedback names", c.feedback)
	}
	var err error
	d.metric, err = d.metricOf(c.metric)
	return err
}

// rowKey identifies an example. Examples without IDs have the same numbers in several files.
func rowKey(e example) string { return e.ID + "\n" + e.In.String() }

// rowsOf returns the rows of a file that evaluate.ReadFile can read, with all columns.
func rowsOf(file string) (rows []json.RawMessage, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		err = json.Unmarshal(text, &rows)
		return rows, err
	case ".csv":
		cells, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			return nil, err
		}
		for _, line := range cells[1:] {
			row := map[string]string{}
			for i, name := range cells[0] {
				row[name] = line[i]
			}
			raw, _ := json.Marshal(row)
			rows = append(rows, raw)
		}
		return rows, nil
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var row json.RawMessage
		if err := d.Decode(&row); err != nil {
			if err == io.EOF {
				err = nil
			}
			return rows, err
		}
		rows = append(rows, row)
	}
}

const metricUsage = "how answers are scored: exact, text (apart from case, punctuation and articles), f1 (words in " +
	"common), contains, fields (the share that is equal), set, within:0.1, or " +
	`url:http://… (gets {"row": …, "got": …} and answers {"score": 0.5, "feedback": "…"})`

var metrics = map[string]func(outputs ...string) metric{
	"exact": evaluate.ExactMatch[values, values], "text": evaluate.TextMatch[values, values],
	"f1": evaluate.F1[values, values], "contains": evaluate.Contains[values, values],
	"fields": evaluate.JSONFields[values, values], "set": evaluate.SetMatch[values, values],
}

// metricOf returns the metric that -metric names.
func (d *data) metricOf(text string) (metric, error) {
	name, argument, _ := strings.Cut(text, ":")
	switch known, found := metrics[text]; {
	case found:
		return known(), nil
	case name == "within":
		tolerance, err := strconv.ParseFloat(argument, 64)
		if err != nil {
			return nil, fmt.Errorf("-metric %s: %w; write a number, such as within:0.1", text, err)
		}
		return evaluate.Within[values, values](tolerance), nil
	case name == "url":
		return d.remote(argument), nil
	}
	return nil, fmt.Errorf("no metric is named %q; -metric says %s", text, metricUsage)
}

// remote returns a metric that a server computes.
func (d *data) remote(url string) metric {
	return func(ctx context.Context, e example, got *module.Prediction[values]) (module.Score, error) {
		body, err := json.Marshal(map[string]any{"row": d.rows[rowKey(e)], "got": got.Output})
		if err != nil {
			return module.Score{}, err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return module.Score{}, err
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return module.Score{}, err
		}
		defer response.Body.Close()
		reply, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		if err != nil {
			return module.Score{}, err
		}
		var score struct {
			Score    *float64 `json:"score"`
			Feedback string   `json:"feedback"`
		}
		if err := json.Unmarshal(reply, &score); err != nil || score.Score == nil || response.StatusCode != http.StatusOK {
			return module.Score{}, fmt.Errorf(`%s answered %s: %.200q; want {"score": 0.5, "feedback": "…"}`,
				url, response.Status, reply)
		}
		if score.Feedback == "" && *score.Score < 1 {
			score.Feedback = e.Note
		}
		return module.Score{Value: *score.Score, Feedback: score.Feedback}, nil
	}
}
