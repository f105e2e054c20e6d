package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/writ-go/writ/tools"
)

// Outcome is the result of running a program.
type Outcome struct {
	// Value is the program's value: submit's argument, what the program returned, or the value of its last expression.
	// Nil means undefined.
	Value json.RawMessage `json:"value,omitempty"`

	// Submitted reports whether the value was passed to submit.
	Submitted bool `json:"submitted,omitempty"`

	// Stdout and Stderr hold what the program wrote to the console.
	Stdout Output `json:"stdout,omitzero"`
	Stderr Output `json:"stderr,omitzero"`

	// Calls are the tool calls, in the order in which the program made them.
	Calls []Call `json:"calls,omitempty"`

	// Abandoned is the number of calls whose handlers did not return within 200 ms of being canceled. These calls are
	// Pending; their effect is unknown.
	Abandoned int `json:"abandoned,omitempty"`

	// Warnings are about code that may run without an error but probably does not do what its author intended:
	// promises that the program did not await, members that results do not have, strings and objects that it
	// used as other types, and searches that found no tool.
	Warnings []Finding `json:"warnings,omitempty"`

	// Declared are the names that the program declares at top level, at most 100.
	Declared []string `json:"declared,omitempty"`

	// Failure says why the program was rejected or failed. It is nil if it succeeded.
	Failure *Failure `json:"failure,omitempty"`

	// Duration is the time from start to end. Waiting is the part of it that the program spent waiting for
	// tools and timers. Computing is the processor time that the program used, as defined by Limits.Compute.
	// Waiting and Computing are zero if the worker died.
	Duration  time.Duration `json:"duration_ns"`
	Computing time.Duration `json:"computing_ns"`
	Waiting   time.Duration `json:"waiting_ns"`

	acts bool // see [CheckResult]
}

// Decode stores the program's value in the variable to which v points, as encoding/json does. It returns the [Failure]
// of a program that failed, and an error if the value is undefined or does not fit.
func (o *Outcome) Decode(v any) error {
	switch {
	case o.Failure != nil:
		return o.Failure
	case o.Value == nil:
		return errors.New("sandbox: the program returned no value; return a value, or end with an expression")
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
	Tail  string `json:"tail,omitempty"` // the end of the truncated output, at most 1/16 of Limits.Output
	Bytes int    `json:"bytes"`          // number of bytes written
}

// Cut reports whether Text is incomplete.
func (o Output) Cut() bool { return len(o.Text) < o.Bytes }

// Call is one tool call in a run. If Error is not nil, Error.Kind says whether the call failed or was not made, and
// Error.Unwrap returns the cause, for the host's log. The effect of a Pending call is unknown, unless the run paused
// while the call waited for a person's decision: then the call was not made.
type Call struct {
	ID       int              `json:"id"`                 // 1, 2, … in the order in which the program made them
	Tool     string           `json:"tool"`               // the path in the call, such as mail.send
	Args     json.RawMessage  `json:"args,omitempty"`     // the argument
	Result   json.RawMessage  `json:"result,omitempty"`   // nil means undefined
	Error    *tools.ToolError `json:"error,omitempty"`    // thrown into the program; nil if the call succeeded
	Recorded bool             `json:"recorded,omitempty"` // answered from the journal; the tool was not called
	Decision string           `json:"decision,omitempty"` // such as "approved by ann", if the policy Approve asked
	Pending  bool             `json:"pending,omitempty"`  // still in progress when the run ended; see below
	Started  time.Duration    `json:"started_ns"`         // since the start of the run
	Duration time.Duration    `json:"duration_ns"`
	Line     int              `json:"line,omitempty"` // the call's position in the source, from 1; 0 if unknown
	Column   int              `json:"column,omitempty"`
}
