package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/writ-go/writ/tools"
)

// Outcome is how a program ended.
type Outcome struct {
	// Value is what the program gave: the argument of submit, what it returned,
	// or the value of its last expression. Nil means undefined.
	Value json.RawMessage `json:"value,omitempty"`

	// Submitted says that the value came by submit.
	Submitted bool `json:"submitted,omitempty"`

	// Stdout and Stderr hold what was written to the console.
	Stdout Output `json:"stdout,omitzero"`
	Stderr Output `json:"stderr,omitzero"`

	// Calls are the tool calls, in the order in which the program made them.
	Calls []Call `json:"calls,omitempty"`

	// Abandoned counts the calls whose handlers were told to stop and had not
	// returned a fifth of a second later. They are Pending; what they did, or still
	// do, is unknown.
	Abandoned int `json:"abandoned,omitempty"`

	// Warnings are what need not fail, but hardly does what its author means: what the
	// check found, promises that the program did not await, results that it used as
	// what they are not, and a search for tools that found none.
	Warnings []Finding `json:"warnings,omitempty"`

	// Declared are the names that the program declares at top level, at most 100.
	Declared []string `json:"declared,omitempty"`

	// Failure is why the program did not end well; nil if it did.
	Failure *Failure `json:"failure,omitempty"`

	// Duration is the time from start to end, Waiting what of it the program waited for
	// tools and timers, and Computing what of the rest it had a processor, as
	// [Limits].Compute says. They are zero if the worker died.
	Duration  time.Duration `json:"duration_ns"`
	Computing time.Duration `json:"computing_ns"`
	Waiting   time.Duration `json:"waiting_ns"`
}

// Decode stores the program's value in what v points to, as encoding/json does.
// It returns the [Failure] of a program that failed, and an error if the value
// is undefined or does not fit.
func (o *Outcome) Decode(v any) error {
	switch {
	case o.Failure != nil:
		return o.Failure
	case o.Value == nil:
		return fmt.Errorf("sandbox: the program gave no value; return one, or end with an expression")
	}
	d := json.NewDecoder(bytes.NewReader(o.Value))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("sandbox: the program's value: %w", err)
	}
	return nil
}

// Output is one stream of the console.
type Output struct {
	Text  string `json:"text"`           // cut at Limits.Output
	Tail  string `json:"tail,omitempty"` // of what is missing from Text, the end: up to a sixteenth of Limits.Output
	Bytes int    `json:"bytes"`          // how much was written
}

// Cut reports whether something is missing from Text.
func (o Output) Cut() bool { return len(o.Text) < o.Bytes }

// Call is one tool call of a run.
type Call struct {
	ID       int              `json:"id"`                 // 1, 2, … in the order in which the program made them
	Tool     string           `json:"tool"`               // as the program writes it: mail.send
	Args     json.RawMessage  `json:"args,omitempty"`     // what was passed
	Result   json.RawMessage  `json:"result,omitempty"`   // nil is undefined
	Error    *tools.ToolError `json:"error,omitempty"`    // what was thrown into the program; nil if the call went well
	Recorded bool             `json:"recorded,omitempty"` // answered from the record: nothing was done this time
	Pending  bool             `json:"pending,omitempty"`  // had not ended when the run did: what it did is unknown
	Started  time.Duration    `json:"started_ns"`         // since the start of the run
	Duration time.Duration    `json:"duration_ns"`
	Line     int              `json:"line,omitempty"` // where the program calls; from 1, 0 if unknown
	Column   int              `json:"column,omitempty"`
}

// Kind says what kind of failure or finding it is.
type Kind string

// What the check refuses; nothing has run.
const (
	KindSyntax          Kind = "syntax"           // not JavaScript that the sandbox runs
	KindUndeclared      Kind = "undeclared"       // a name that nothing declares
	KindUnknownTool     Kind = "unknown_tool"     // a call of a tool that does not exist
	KindInvalidArgument Kind = "invalid_argument" // a literal argument that violates the tool's schema
	KindUnsupported     Kind = "unsupported"      // a construct that would not do what it says
	KindSourceLimit     Kind = "source_limit"     // longer than Limits.Source
	KindRefused         Kind = "refused"          // several of these
)

// How a program that ran may fail.
const (
	KindThrown       Kind = "thrown"        // an exception or rejection was not caught
	KindToolError    Kind = "tool_error"    // so was a tool's error
	KindHeld         Kind = "held"          // a call resembles an earlier one: see tools.HoldError
	KindDeadlock     Kind = "deadlock"      // it awaits what nothing can settle
	KindUnawaited    Kind = "unawaited"     // it submitted while calls had no answer, or had failed and nothing handled that, or the text of a promise
	KindTimeout      Kind = "timeout"       // longer than Limits.Time
	KindComputeLimit Kind = "compute_limit" // computing for longer than Limits.Compute
	KindWaitLimit    Kind = "wait_limit"    // waiting for longer than Limits.Wait
	KindMemoryLimit  Kind = "memory_limit"  // more than Limits.Memory
	KindCallLimit    Kind = "call_limit"    // calls beyond Limits.Calls were refused, and it went on to make more
	KindOutputLimit  Kind = "output_limit"  // a value larger than Limits.Output
	KindBadValue     Kind = "bad_value"     // a value without JSON form, such as one that contains itself
	KindCrashed      Kind = "crashed"       // the worker died
	KindStopped      Kind = "stopped"       // the context was cancelled; Run also returns an error
)

// Finding is one reason why a program was refused, or a warning.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to write instead
	Line    int    `json:"line,omitempty"` // from 1; 0 if unknown
	Column  int    `json:"column,omitempty"`
	Frame   string `json:"frame,omitempty"` // the line, and a caret under the column
}

// String is the finding as a person or a model reads it.
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
	return b.String()
}

// Failure is why a program did not end well, in words that its author, usually
// a model, can act on.
type Failure struct {
	Finding                   // what happened first, or the only finding
	Findings []Finding        `json:"findings,omitempty"` // of a refused program: all of them; otherwise nil
	Stack    []string         `json:"stack,omitempty"`    // of an exception: "line 3, column 7", innermost first
	Tool     *tools.ToolError `json:"tool,omitempty"`     // of ToolFailed: the error that was not caught
	Hold     *tools.HoldError `json:"hold,omitempty"`     // of Held: the call in question
}

// Error is the whole message, all findings included.
func (f *Failure) Error() string { return f.String() }

// String is the failure as a person or a model reads it.
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

// Ran reports whether any of the program was executed.
func (f *Failure) Ran() bool { return f.Findings == nil }

// refusal makes a failure of one or more findings.
func refusal(findings []Finding) *Failure {
	f := &Failure{Finding: findings[0], Findings: findings}
	if len(findings) > 1 {
		f.Finding = Finding{Kind: KindRefused, Message: fmt.Sprintf("the program was refused for %d reasons; nothing has run", len(findings))}
	}
	return f
}
