package codemode

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox"
)

// execution is a program's result.
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
	Run             string          `json:"run,omitempty"`    // for retry_of
	Advice          string          `json:"advice,omitempty"` // how to retry the run

	blocks []mcp.Content // extracted from the result
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
	Entry      string  `json:"entry,omitempty"` // if the call's effect is uncertain and the run can be retried
	OK         bool    `json:"ok"`
	Pending    bool    `json:"pending,omitempty"`
	Rejected   bool    `json:"rejected,omitempty"`
	Recorded   bool    `json:"recorded,omitempty"`
	Args       string  `json:"args,omitempty"`
	DurationMS float64 `json:"duration_ms"`
	Error      string  `json:"error,omitempty"`
}

func newExecution(out *sandbox.Outcome) execution {
	value, blocks, warning := takeContent(out.Value)
	e := execution{
		Success: out.Failure == nil, Result: value, blocks: blocks, DurationMS: milliseconds(out.Duration),
		Diagnostics: []diagnostic{}, Warnings: diagnostics(out.Warnings), Calls: []call{},
	}
	e.Stdout, e.StdoutBytes, e.StdoutTruncated = shown(out.Stdout), out.Stdout.Bytes, out.Stdout.Cut()
	e.Stderr, e.StderrBytes, e.StderrTruncated = shown(out.Stderr), out.Stderr.Bytes, out.Stderr.Cut()
	if warning != "" {
		e.Warnings = append(e.Warnings, diagnostic{ErrorType: "CONTENT", Message: warning})
	}
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

// errorType returns the name that clients see for a kind of failure. For all time limits, it is TIMEOUT.
func errorType(k sandbox.Kind) string {
	if k == sandbox.KindComputeLimit {
		k = sandbox.KindTimeout
	}
	return strings.ToUpper(string(k))
}

func newCall(c sandbox.Call, failed bool) call {
	item := call{Tool: c.Tool, OK: c.Error == nil && !c.Pending, Pending: c.Pending, Rejected: rejected(c),
		Recorded: c.Recorded, DurationMS: milliseconds(c.Duration)}
	if c.Error != nil {
		item.Error = c.Error.Message
	}
	if failed {
		item.Args = cut(string(c.Args), 500)
	}
	return item
}

// maxOutput is the maximum size, in bytes, of the console output that a client gets.
const maxOutput = 64 << 10

// shown returns the beginning and the end of an output.
func shown(o sandbox.Output) string {
	if len(o.Text) <= maxOutput && !o.Cut() {
		return o.Text
	}
	const remark = 64 // maximum length of the remark about omitted bytes
	tail := o.Tail[max(0, len(o.Tail)-maxOutput/2):]
	head := o.Text[:min(len(o.Text), maxOutput-len(tail)-remark)]
	left := o.Bytes - len(head) - len(tail)
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n… %d bytes omitted …\n", left) +
		strings.ToValidUTF8(tail, "")
}

func cut(text string, limit int) string { return display.Cut(text, limit) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
