package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// Call is one call of one tool by a running program.
type Call struct {
	ID     int             // 1, 2, … in the order in which the program made its calls
	Tool   *Binding        // what is called
	Args   json.RawMessage // the argument, valid against the tool's InputSchema
	Repeat *Repeat         // what the program says about a repeated effect; usually nil
	Line   int             // where the program calls; from 1, 0 if unknown
	Column int
}

// Repeat is a program's answer to a held call, given as the second argument of
// the repeated one. Entries are named as the journal names them: "E7".
type Repeat struct {
	Same     string   `json:"same,omitempty"`     // it is that call: take its recorded result
	Again    string   `json:"again,omitempty"`    // do that effect once more, on purpose
	Distinct []string `json:"distinct,omitempty"` // it is another effect than those
}

// Caller performs calls. Implementations are safe for concurrent use.
type Caller interface {
	// Call returns the result as JSON, nil for undefined. An error becomes a
	// [ToolError] in the program unless it is [Fatal], which ends the run.
	Call(ctx context.Context, c Call) (json.RawMessage, error)
}

// CallerFunc is a function as a [Caller].
type CallerFunc func(ctx context.Context, c Call) (json.RawMessage, error)

// Call calls f.
func (f CallerFunc) Call(ctx context.Context, c Call) (json.RawMessage, error) { return f(ctx, c) }

// Policy stands around every call that reaches a tool: it may refuse it, change
// it, delay it, retry it or look at its result. To refuse, return a [ToolError]
// of kind [KindDenied] without calling next: the model reads the message.
type Policy func(next Caller) Caller

// Ledger is the record of a run's calls; tools/journal has one.
type Ledger interface {
	// Issue is told of every valid call, in the order in which the program
	// makes them, before any policy. It must not block. An error ends the
	// program before the call is made, and the program cannot catch it: a
	// *[HoldError] is for the model to answer, any other for the host.
	Issue(c Call) (Entry, error)
}

// Entry is one call in a [Ledger].
type Entry interface {
	// Recorded returns the outcome that the record already holds for the call,
	// and whether it does; the call is then not made.
	Recorded() (result json.RawMessage, err error, ok bool)
	// Dispatched says that the tool is about to be called.
	Dispatched() error
	// Settled says how the call ended.
	Settled(result json.RawMessage, err error)
}

// HoldError says that a call resembles one that was already made, so that the
// program must say what it means before anything is done.
type HoldError struct {
	Call    string // the held call, as the model reads it
	Message string // what it resembles, and how to answer
}

func (e *HoldError) Error() string { return fmt.Sprintf("%s was held: %s", e.Call, e.Message) }

// Dispatcher takes the calls of one run down the chain: validate, look up in
// the ledger, policies, record, handler.
type Dispatcher struct {
	bindings []*Binding
	policies []Policy
	ledger   Ledger
}

// Dispatcher returns the chain for one run. A nil ledger records nothing.
func (s *Set) Dispatcher(l Ledger) *Dispatcher {
	if s == nil {
		return &Dispatcher{}
	}
	return &Dispatcher{bindings: s.bindings, policies: s.policies, ledger: l}
}

// Issued is a call that has been validated and looked up.
type Issued struct {
	// Recorded says that the ledger has the outcome and nothing will be done.
	Recorded bool

	// Perform performs the call, on any goroutine, and must be called once. Its
	// error is a *[ToolError] for the program, or ends the run: a *[HoldError]
	// or a [Fatal] error.
	Perform func(ctx context.Context) (json.RawMessage, error)
}

// Issue takes in one call; tool is an index into [Set.Bindings]. It validates
// the arguments and consults the ledger, which is quick, and must be called in
// the order in which the program makes its calls.
func (d *Dispatcher) Issue(c Call, tool int) Issued {
	if tool < 0 || tool >= len(d.bindings) {
		return failed(&ToolError{Kind: KindUnknownTool, Message: "there is no such tool"})
	}
	c.Tool = d.bindings[tool]
	if findings := c.Tool.Check(c.Args, nil); len(findings) > 0 {
		return failed(invalidArguments(c.Tool, findings))
	}
	if d.ledger == nil {
		return d.later(c, nil)
	}
	entry, err := d.ledger.Issue(c)
	if err != nil {
		return failed(err)
	}
	if result, err, ok := entry.Recorded(); ok {
		return Issued{Recorded: true, Perform: func(context.Context) (json.RawMessage, error) { return result, err }}
	}
	return d.later(c, entry)
}

func failed(err error) Issued {
	return Issued{Perform: func(context.Context) (json.RawMessage, error) { return nil, err }}
}

func (d *Dispatcher) later(c Call, entry Entry) Issued {
	return Issued{Perform: func(ctx context.Context) (json.RawMessage, error) { return d.live(ctx, c, entry) }}
}

// live performs a call that the record does not answer. Whatever happens, the
// entry is settled.
func (d *Dispatcher) live(ctx context.Context, c Call, entry Entry) (json.RawMessage, error) {
	caller := Caller(CallerFunc(func(ctx context.Context, c Call) (json.RawMessage, error) {
		if entry != nil {
			if err := entry.Dispatched(); err != nil {
				return nil, Fatal(err)
			}
		}
		return c.Tool.Handler(ctx, c.Args)
	}))
	for i := len(d.policies) - 1; i >= 0; i-- {
		caller = d.policies[i](caller)
	}
	result, err := guarded(ctx, caller, c)
	if err != nil && !IsFatal(err) {
		err = asToolError(ctx, c.Tool, err)
	}
	if entry != nil {
		entry.Settled(result, err)
	}
	return result, err
}

// guarded turns a panic of a handler or policy into that call's error.
func guarded(ctx context.Context, caller Caller, c Call) (result json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, (&ToolError{
				Kind:    KindUnknown,
				Message: "the tool broke down; whether it took effect is unknown",
			}).WithCause(fmt.Errorf("tools: %s panicked: %v\n%s", c.Tool.Path(), p, debug.Stack()))
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, &ToolError{Kind: KindDenied, Message: "the run ended before the call was made"}
	}
	return caller.Call(ctx, c)
}

// asToolError words an error for the program.
func asToolError(ctx context.Context, b *Binding, err error) *ToolError {
	var te *ToolError
	var hidden *hiddenError
	switch {
	case errors.As(err, &hidden):
		te = &ToolError{Message: "the tool failed; the reason is not shown", err: err}
	case errors.As(err, &te):
		te = te.WithCause(te.err)
	case errors.Is(err, context.DeadlineExceeded):
		te = &ToolError{Kind: KindTimeout, Message: "no answer in time; whether it took effect is unknown", err: err}
	case errors.Is(err, context.Canceled), ctx.Err() != nil:
		te = &ToolError{Kind: KindCancelled, Message: "cancelled; whether it took effect is unknown", err: err}
	default:
		te = &ToolError{Message: err.Error(), err: err}
	}
	te.Tool = b.Path()
	if te.Kind == "" {
		te.Kind = KindFailed
	}
	return te
}

func invalidArguments(b *Binding, findings []schema.Finding) *ToolError {
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = f.String()
	}
	return &ToolError{Tool: b.Path(), Kind: KindInvalidArguments, Message: strings.Join(lines, "; ")}
}
