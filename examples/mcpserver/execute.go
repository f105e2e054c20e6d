package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// The schemas are written by hand: clients differ in what they understand, and
// all of them understand this.
const (
	inputSchema = `{
  "type": "object",
  "properties": {
    "code": {"type": "string", "description": "The JavaScript program."},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds it may take; the server's limit still holds."}
  },
  "required": ["code"],
  "additionalProperties": false
}`

	outputSchema = `{
  "type": "object",
  "properties": {
    "success": {"type": "boolean"},
    "result": {"description": "The value of the program; null if it gave none."},
    "stdout": {"type": "string"},
    "stderr": {"type": "string"},
    "duration_ms": {"type": "number"},
    "diagnostics": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "error_type": {"type": "string"},
          "message": {"type": "string"},
          "line": {"type": "integer"},
          "column": {"type": "integer"},
          "frame": {"type": "string"},
          "hint": {"type": "string"}
        },
        "required": ["error_type", "message"]
      }
    },
    "calls": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "tool": {"type": "string"},
          "ok": {"type": "boolean"},
          "duration_ms": {"type": "number"},
          "error": {"type": "string"}
        },
        "required": ["tool", "ok", "duration_ms"]
      }
    }
  },
  "required": ["success", "result", "stdout", "stderr", "duration_ms", "diagnostics", "calls"]
}`

	about = `Run a JavaScript program in a sandbox and return its value: what it returns, or that of its last expression.
Modern JavaScript in strict mode; top-level await works. There are console, setTimeout, sleep(ms) and the language's own objects; there are no modules, files, network or processes. Every program starts afresh. It is checked first: if it is refused, nothing has run.`

	aboutTools = `
The tools below are globals. They take one object and return a promise; a string result is plain text and never parsed; a failure throws ToolError. Run independent calls at the same time with Promise.all.
`
)

func newServer(box *sandbox.Sandbox, set *tools.Set) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "writ", Version: "0.1.0"}, nil)
	yes := true
	server.AddTool(&mcp.Tool{
		Name:         "execute_code",
		Title:        "Run a program",
		Description:  description(set),
		InputSchema:  json.RawMessage(inputSchema),
		OutputSchema: json.RawMessage(outputSchema),
		Annotations:  &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes},
	}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return execute(ctx, box, set, r.Params.Arguments)
	})
	return server
}

func description(set *tools.Set) string {
	if set.Len() == 0 {
		return about
	}
	return about + aboutTools + "```ts\n" + declare.TypeScript(set, 0) + "```\n"
}

// execution is the structured result.
type execution struct {
	Success     bool            `json:"success"`
	Result      json.RawMessage `json:"result"`
	Stdout      string          `json:"stdout"`
	Stderr      string          `json:"stderr"`
	DurationMS  float64         `json:"duration_ms"`
	Diagnostics []diagnostic    `json:"diagnostics"`
	Calls       []call          `json:"calls"`
}

type diagnostic struct {
	ErrorType string `json:"error_type"`
	Message   string `json:"message"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	Frame     string `json:"frame,omitempty"`
	Hint      string `json:"hint,omitempty"`
}

type call struct {
	Tool       string  `json:"tool"`
	OK         bool    `json:"ok"`
	DurationMS float64 `json:"duration_ms"`
	Error      string  `json:"error,omitempty"`
}

// execute runs one program. What is wrong with the program, or with the
// arguments, is in the result, for the model to read; an error is the server's.
func execute(ctx context.Context, box *sandbox.Sandbox, set *tools.Set, arguments json.RawMessage) (*mcp.CallToolResult, error) {
	program, err := parse(arguments)
	if err != nil {
		r := &mcp.CallToolResult{}
		r.SetError(err)
		return r, nil
	}
	program.Tools = set
	out, err := box.Run(ctx, program)
	if err != nil {
		return nil, err
	}
	e := newExecution(out)
	structured, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(structured)}},
		StructuredContent: json.RawMessage(structured),
		IsError:           !e.Success,
	}, nil
}

func parse(arguments json.RawMessage) (sandbox.Program, error) {
	var args struct {
		Code    *string `json:"code"`
		Timeout float64 `json:"timeout"`
	}
	decoder := json.NewDecoder(strings.NewReader(string(arguments)))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&args)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
		return sandbox.Program{}, fmt.Errorf("%s must be a %s, not a %s", wrong.Field, wrong.Type, wrong.Value)
	}
	if err != nil {
		return sandbox.Program{}, fmt.Errorf("execute_code takes code (text) and timeout (seconds): %w", err)
	}
	if args.Code == nil || strings.TrimSpace(*args.Code) == "" {
		return sandbox.Program{}, fmt.Errorf("code is missing or empty; pass a JavaScript program")
	}
	if args.Timeout < 0 || args.Timeout > 1e6 {
		return sandbox.Program{}, fmt.Errorf("timeout must be a positive number of seconds, not %v", args.Timeout)
	}
	return sandbox.Program{Source: *args.Code, Timeout: time.Duration(args.Timeout * float64(time.Second))}, nil
}

func newExecution(out *sandbox.Outcome) execution {
	e := execution{
		Success: out.Failure == nil, Result: out.Value,
		Stdout: out.Stdout.Text, Stderr: out.Stderr.Text, DurationMS: milliseconds(out.Duration),
		Diagnostics: []diagnostic{}, Calls: []call{},
	}
	for _, c := range out.Calls {
		item := call{Tool: c.Tool, OK: c.Error == nil && !c.Pending, DurationMS: milliseconds(c.Duration)}
		if c.Error != nil {
			item.Error = c.Error.Message
		}
		e.Calls = append(e.Calls, item)
	}
	if out.Failure == nil {
		return e
	}
	findings := out.Failure.Findings
	if findings == nil {
		findings = []sandbox.Finding{out.Failure.Finding}
	}
	for _, f := range findings {
		e.Diagnostics = append(e.Diagnostics, diagnostic{
			ErrorType: strings.ToUpper(string(f.Kind)), Message: f.Message,
			Line: f.Line, Column: f.Column, Frame: f.Frame, Hint: f.Hint,
		})
	}
	return e
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
