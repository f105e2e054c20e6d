package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/writ-go/writ/sandbox"
)

const executionSchema = `{
  "type": "object",
  "properties": {
    "success": {"type": "boolean"},
    "result": {"description": "The value of the program; null if it gave none."},
    "stdout": {"type": "string", "description": "What was written to the console, at most 64 kB: the beginning and the end."},
    "stdout_bytes": {"type": "integer", "description": "How much was written."},
    "stdout_truncated": {"type": "boolean"},
    "stderr": {"type": "string"},
    "stderr_bytes": {"type": "integer"},
    "stderr_truncated": {"type": "boolean"},
    "duration_ms": {"type": "number"},
    "error_type": {"type": "string", "description": "If it failed: TIMEOUT, POLICY_VIOLATION, INVALID_ARGUMENT, SYNTAX, THROWN, TOOL_ERROR and others."},
    "diagnostics": {"type": "array", "description": "Why it failed; if nothing has run, all reasons.", "items": {"$ref": "#/$defs/finding"}},
    "warnings": {"type": "array", "description": "What looks wrong and did not stop it.", "items": {"$ref": "#/$defs/finding"}},
    "calls": {
      "type": "array",
      "description": "The tool calls that were made, in order.",
      "items": {
        "type": "object",
        "properties": {
          "tool": {"type": "string"},
          "ok": {"type": "boolean"},
          "pending": {"type": "boolean", "description": "It had no answer when the program ended; what it did is unknown."},
          "args": {"type": "string", "description": "If the program failed: the arguments, in part."},
          "duration_ms": {"type": "number"},
          "error": {"type": "string"}
        },
        "required": ["tool", "ok", "duration_ms"]
      }
    },
    "session": {"type": "string", "description": "The session that the program ran in: pass it with the next one."}
  },
  "required": ["success", "result", "stdout", "stdout_bytes", "stdout_truncated", "stderr", "stderr_bytes", "stderr_truncated", "duration_ms", "diagnostics", "warnings", "calls"],
  "$defs": {
    "finding": {
      "type": "object",
      "properties": {
        "error_type": {"type": "string"},
        "message": {"type": "string"},
        "line": {"type": "integer"},
        "column": {"type": "integer"},
        "frame": {"type": "string", "description": "The line, and a caret under the column."},
        "hint": {"type": "string"}
      },
      "required": ["error_type", "message"]
    }
  }
}`

// execution is how a program ended.
type execution struct {
	Success         bool            `json:"success"`
	Result          json.RawMessage `json:"result"`
	Stdout          string          `json:"stdout"`
	StdoutBytes     int             `json:"stdout_bytes"`
	StdoutTruncated bool            `json:"stdout_truncated"`
	Stderr          string          `json:"stderr"`
	StderrBytes     int             `json:"stderr_bytes"`
	StderrTruncated bool            `json:"stderr_truncated"`
	DurationMS      float64         `json:"duration_ms"`
	ErrorType       string          `json:"error_type,omitempty"`
	Diagnostics     []diagnostic    `json:"diagnostics"`
	Warnings        []diagnostic    `json:"warnings"`
	Calls           []call          `json:"calls"`
	Session         string          `json:"session,omitempty"`
}

func (e execution) failed() bool { return !e.Success }

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
	Pending    bool    `json:"pending,omitempty"`
	Args       string  `json:"args,omitempty"`
	DurationMS float64 `json:"duration_ms"`
	Error      string  `json:"error,omitempty"`
}

func newExecution(out *sandbox.Outcome) execution {
	e := execution{
		Success: out.Failure == nil, Result: out.Value, DurationMS: milliseconds(out.Duration),
		Diagnostics: []diagnostic{}, Warnings: diagnostics(out.Warnings), Calls: []call{},
	}
	e.Stdout, e.StdoutBytes, e.StdoutTruncated = shown(out.Stdout), out.Stdout.Bytes, out.Stdout.Cut()
	e.Stderr, e.StderrBytes, e.StderrTruncated = shown(out.Stderr), out.Stderr.Bytes, out.Stderr.Cut()
	for _, c := range out.Calls {
		e.Calls = append(e.Calls, newCall(c, out.Failure != nil))
	}
	if out.Failure == nil {
		return e
	}
	e.ErrorType = errorType(out.Failure.Kind)
	findings := out.Failure.Findings
	if findings == nil {
		findings = []sandbox.Finding{out.Failure.Finding}
	}
	e.Diagnostics = diagnostics(findings)
	if out.Failure.Kind == sandbox.KindRefused {
		e.ErrorType = e.Diagnostics[0].ErrorType
	}
	return e
}

// fail records why a program did not run, or why it failed.
func (e *execution) fail(kind, message string) {
	e.Success, e.ErrorType = false, kind
	e.Diagnostics = append(e.Diagnostics, diagnostic{ErrorType: kind, Message: message})
}

func diagnostics(findings []sandbox.Finding) []diagnostic {
	list := make([]diagnostic, len(findings))
	for i, f := range findings {
		list[i] = diagnostic{errorType(f.Kind), f.Message, f.Line, f.Column, f.Frame, f.Hint}
	}
	return list
}

// errorType names a kind of failure as clients of code mode know it: whatever was
// too long is a TIMEOUT, and what the host's rules forbid a POLICY_VIOLATION.
func errorType(k sandbox.Kind) string {
	switch k {
	case sandbox.KindComputeLimit, sandbox.KindWaitLimit:
		k = sandbox.KindTimeout
	}
	return strings.ToUpper(string(k))
}

func newCall(c sandbox.Call, failed bool) call {
	item := call{Tool: c.Tool, OK: c.Error == nil && !c.Pending, Pending: c.Pending, DurationMS: milliseconds(c.Duration)}
	if c.Error != nil {
		item.Error = c.Error.Message
	}
	if failed {
		item.Args = cut(string(c.Args), 500)
	}
	return item
}

// mostOutput is the maximum number of bytes of console output that a client gets.
const mostOutput = 64 << 10

// shown is the beginning of what was written and its end.
func shown(o sandbox.Output) string {
	if len(o.Text) <= mostOutput && !o.Cut() {
		return o.Text
	}
	const remark = 64 // at most
	tail := o.Tail[max(0, len(o.Tail)-mostOutput/2):]
	head := o.Text[:min(len(o.Text), mostOutput-len(tail)-remark)]
	left := o.Bytes - len(head) - len(tail)
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n… %d bytes are left out …\n", left) +
		strings.ToValidUTF8(tail, "")
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
