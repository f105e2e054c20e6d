package sandbox

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
)

// Kind is the kind of a finding or failure: one of the constants below or, if a program was rejected or failed,
//
//	undeclared        an undeclared name
//	unknown_tool      a call to a tool that does not exist
//	invalid_argument  a literal argument that violates the tool's schema
//	unsupported       a construct that the engine would execute incorrectly
//	source_limit      a source longer than Limits.Source
//	policy_violation  a violation of Options.Rules
//	deadlock          the program awaits a promise that nothing can settle
//	output_limit      the value is larger than Limits.Output
//	bad_value         the value has no JSON form, such as an object that contains itself
//	crashed           the worker died
//
// Warnings are of the kinds
//
//	not_awaited     a promise that the program does not await
//	wrong_type      a result used as the wrong type: a member that no row of a list has, a member
//	                of a string, the length of an object, or an object as a string
//	missing_member  a member that an object in a result does not have, outside of lists
//	no_value        the program does not return a value
//	remark          a tool's remark about a result: see tools.Tool.Remark
//	lost_value      NaN, an infinity, undefined or the text of an object in the answer
//	call_limit      calls that were not made because of Limits.Calls
type Kind string

// Kinds of failures.
const (
	KindSyntax       Kind = "syntax"        // not JavaScript, or not supported by the sandbox; nothing has run
	KindRefused      Kind = "refused"       // rejected for several reasons; nothing has run
	KindThrown       Kind = "thrown"        // an uncaught exception or rejection
	KindToolError    Kind = "tool_error"    // an uncaught tool error
	KindHeld         Kind = "held"          // a call resembles an earlier one: see tools.HoldError
	KindUnawaited    Kind = "unawaited"     // submitted before all calls had settled, or with a promise as text
	KindTimeout      Kind = "timeout"       // ran longer than Limits.Time
	KindComputeLimit Kind = "compute_limit" // computed for longer than Limits.Compute
	KindMemoryLimit  Kind = "memory_limit"  // used more than Limits.Memory
	KindCallLimit    Kind = "call_limit"    // made more than 1000 calls beyond Limits.Calls
	KindStopped      Kind = "stopped"       // the context was canceled; Run also returns an error
)

const (
	kindUndeclared      Kind = "undeclared"
	kindUnknownTool     Kind = "unknown_tool"
	kindInvalidArgument Kind = "invalid_argument"
	kindUnsupported     Kind = "unsupported"
	kindSourceLimit     Kind = "source_limit"
	kindPolicyViolation Kind = "policy_violation"
	kindNotAwaited      Kind = "not_awaited"
	kindWrongType       Kind = "wrong_type"
	kindMissingMember   Kind = "missing_member"
	kindNoValue         Kind = "no_value"
	kindRemark          Kind = "remark"
	kindLostValue       Kind = "lost_value"
)

// Finding is one reason why a program was rejected, or one warning.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to write instead
	Line    int    `json:"line,omitempty"` // counted from 1; 0 if unknown
	Column  int    `json:"column,omitempty"`
	Frame   string `json:"frame,omitempty"` // the source line with a caret, and the line that called the function
}

// String describes the finding to a person or a model.
func (f Finding) String() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d: ", f.Line, f.Column)
	}
	b.WriteString(f.Message)
	if f.Hint != "" {
		fmt.Fprintf(&b, " (%s)", f.Hint)
	}
	if f.Frame != "" {
		b.WriteString("\n" + f.Frame)
	}
	return display.Text(b.String())
}

// Failure explains why a program was rejected or failed, in words that its author, usually a model, can act on.
type Failure struct {
	Finding                   // the failure, the only finding, or a summary of several findings
	Findings []Finding        `json:"findings,omitempty"` // all findings if the program was rejected, and otherwise nil
	Stack    []string         `json:"stack,omitempty"`    // positions such as "line 3, column 7", innermost first
	Tool     *tools.ToolError `json:"tool,omitempty"`     // for KindToolError, the uncaught error
	Hold     *tools.HoldError `json:"hold,omitempty"`     // for KindHeld, the call in question
}

// Error returns the whole message, including all findings.
func (f *Failure) Error() string { return f.String() }

// String describes the failure to a person or a model.
func (f *Failure) String() string {
	if len(f.Findings) < 2 {
		return f.Finding.String()
	}
	lines := []string{f.Message}
	for _, finding := range f.Findings {
		lines = append(lines, finding.String())
	}
	return strings.Join(lines, "\n")
}

// Ran reports whether any part of the program was executed.
func (f *Failure) Ran() bool { return f.Findings == nil }

// refusal returns the failure for a program with one or more findings.
func refusal(findings []Finding) *Failure {
	f := &Failure{Finding: findings[0], Findings: findings}
	if len(findings) > 1 {
		message := fmt.Sprintf("the program was refused for %d reasons; nothing has run", len(findings))
		f.Finding = Finding{Kind: KindRefused, Message: message}
	}
	return f
}

// finding returns a finding about a position in the program.
func (h *host) finding(kind Kind, message, hint string, at engine.Pos) Finding {
	return Finding{
		Kind:    kind,
		Message: display.Cut(display.Text(message), maxMessage), Hint: display.Cut(display.Text(hint), maxMessage),
		Line: at.Line, Column: at.Column, Frame: frame(h.program.Source, at.Line, at.Column),
	}
}

// maxMessage is the maximum size of a message in bytes. Programs can contain names and
// values of any length, and models pay for reading them.
const maxMessage = 2000

// frameWidth is the number of characters that a frame shows of a long line.
const frameWidth = 100

// frame shows a position in the source:
//
//	3 | const rows = await orders.lst();
//	  |                           ^
func frame(source string, line, column int) string {
	if line < 1 {
		return ""
	}
	text := []rune(engine.Line(source, line))
	at, units := 0, 0 // columns count UTF-16 units
	for at < len(text) && units < column-1 {
		units += max(utf16.RuneLen(text[at]), 1)
		at++
	}
	start := 0
	if at > frameWidth*3/4 {
		start = at - frameWidth/2
	}
	end := min(len(text), start+frameWidth)
	number := fmt.Sprint(line)
	blank := func(r rune) rune {
		if r == '\t' { // tabs keep the caret under its column
			return r
		}
		return ' '
	}
	before, after := display.Text(string(text[start:min(at, end)])), display.Text(string(text[min(at, end):end]))
	caret := strings.Map(blank, before)
	return fmt.Sprintf("%s | %s%s\n%*s | %s^", number, before, after, len(number), "", caret)
}
