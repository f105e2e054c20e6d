package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/examples/internal/show"
)

func (r request) list(ctx context.Context, session *mcp.ClientSession, w io.Writer) (bool, error) {
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return false, err
		}
		if r.json {
			if err := printJSON(w, t); err != nil {
				return false, err
			}
			continue
		}
		fmt.Fprintf(w, "%s(%s)\n%s\n\n", t.Name, parameters(t.InputSchema), show.Indent(t.Description, "    "))
	}
	return true, nil
}

// parameters lists the parameters of a tool. Optional ones have a question mark.
func parameters(schema any) string {
	var s struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	text, err := json.Marshal(schema)
	if err != nil || json.Unmarshal(text, &s) != nil {
		return "…"
	}
	list := s.Required
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			list = append(list, name+"?")
		}
	}
	return strings.Join(list, ", ")
}

// result has the fields that the results of this project's server have in common.
type result struct {
	Result      json.RawMessage `json:"result"`
	Answer      *string         `json:"answer"`
	Error       string          `json:"error"`
	ErrorType   string          `json:"error_type"`
	Stdout      string          `json:"stdout"`
	Stderr      string          `json:"stderr"`
	DurationMS  float64         `json:"duration_ms"`
	Session     string          `json:"session"`
	Diagnostics []finding       `json:"diagnostics"`
	Warnings    []finding       `json:"warnings"`
	Calls       *[]struct {
		Tool       string  `json:"tool"`
		OK         *bool   `json:"ok"`
		State      string  `json:"state"`
		Args       string  `json:"args"`
		Error      string  `json:"error"`
		DurationMS float64 `json:"duration_ms"`
	} `json:"calls"`
	Steps []struct {
		Code        string `json:"code"`
		Observation string `json:"observation"`
	} `json:"steps"`
	Usage *struct {
		Calls  int `json:"calls"`
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

type finding struct {
	ErrorType string `json:"error_type"`
	Message   string `json:"message"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Frame     string `json:"frame"`
	Hint      string `json:"hint"`
}

// show prints a result for people: the result of a program or task in parts, any other unchanged.
func (r request) show(w io.Writer, got *mcp.CallToolResult) error {
	if r.json {
		return printJSON(w, got)
	}
	var parts result
	text, err := json.Marshal(got.StructuredContent)
	if err != nil {
		return err
	}
	if got.StructuredContent == nil || json.Unmarshal(text, &parts) != nil || parts.Calls == nil {
		return plain(w, got)
	}
	parts.print(w)
	return nil
}

func plain(w io.Writer, got *mcp.CallToolResult) error {
	if got.StructuredContent != nil {
		return printJSON(w, got.StructuredContent)
	}
	for _, c := range got.Content {
		text, ok := c.(*mcp.TextContent)
		if !ok {
			if err := printJSON(w, c); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(w, text.Text)
	}
	return nil
}

func (r result) print(w io.Writer) {
	for i, s := range r.Steps {
		part(w, fmt.Sprintf("program %d", i+1), s.Code)
		part(w, "outcome", s.Observation)
	}
	part(w, "console", r.Stdout)
	part(w, "console, errors", r.Stderr)
	for _, f := range r.Warnings {
		part(w, "warning", f.String())
	}
	for _, f := range r.Diagnostics {
		part(w, "error", f.String())
	}
	r.printCalls(w)
	switch {
	case r.Answer != nil:
		part(w, "answer", *r.Answer)
	case r.Error != "":
		part(w, "error", r.ErrorType+": "+r.Error)
	case r.ErrorType == "":
		part(w, "result", string(r.Result))
	}
	part(w, "session", r.Session)
	if r.Usage != nil {
		part(w, "model", fmt.Sprintf("called %d times, %d tokens in, %d out", r.Usage.Calls, r.Usage.Input, r.Usage.Output))
	}
	part(w, "time", short(milliseconds(r.DurationMS)))
}

func (r result) printCalls(w io.Writer) {
	var lines []string
	for _, c := range *r.Calls {
		line := c.Tool
		if c.Args != "" {
			line += "(" + c.Args + ")"
		}
		if c.DurationMS > 0 {
			line += "  " + short(milliseconds(c.DurationMS))
		}
		switch {
		case c.Error != "":
			line += "  failed: " + c.Error
		case c.OK != nil && !*c.OK:
			line += "  had no answer"
		case c.State != "" && c.State != "ok":
			line += "  " + c.State
		}
		lines = append(lines, line)
	}
	part(w, "calls", strings.Join(lines, "\n"))
}

func (f finding) String() string {
	text := f.ErrorType + ": " + f.Message
	if f.Line > 0 {
		text += fmt.Sprintf(" (line %d, column %d)", f.Line, f.Column)
	}
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	if f.Frame != "" {
		text += "\n" + f.Frame
	}
	return text
}

// part prints one part of a result unless it is empty.
func part(w io.Writer, name, text string) {
	if text != "" {
		fmt.Fprintf(w, "── %s\n%s\n", name, show.Indent(text, "   "))
	}
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func short(d time.Duration) string {
	if d < time.Second {
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
