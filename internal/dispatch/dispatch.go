// Package dispatch takes a program's calls through validation, the journal and the policies to the tools.
package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Dispatcher performs one program's calls. It validates each call, looks it up in the journal, and passes it through
// the policies to the handler. It is safe for concurrent use.
type Dispatcher struct {
	set      *tools.Set
	bindings []*tools.Binding
	attempt  Attempt

	mu      sync.Mutex
	ended   bool
	waiting map[*Execution]context.CancelFunc // calls that have not reached their tools
}

// New returns a Dispatcher for one program with the tools of a set. If a is nil, no calls are recorded.
func New(s *tools.Set, a Attempt) *Dispatcher {
	return &Dispatcher{set: s, bindings: s.Bindings(), attempt: a}
}

// End marks the end of the program. Calls that have not been dispatched to their tools are
// rejected, and the contexts of their policies are canceled. Dispatched calls continue.
func (d *Dispatcher) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for _, cancel := range d.waiting {
		cancel()
	}
	d.waiting = nil
}

// wait registers a call that is not yet dispatched. It reports whether the program is still running.
func (d *Dispatcher) wait(x *Execution) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return false
	}
	if d.waiting == nil {
		d.waiting = map[*Execution]context.CancelFunc{}
	}
	d.waiting[x] = x.cancel
	return true
}

// arrive unregisters a call that is about to be dispatched or has ended. It reports whether the program is still
// running.
func (d *Dispatcher) arrive(x *Execution) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, x)
	return !d.ended
}

// Refused returns the execution of a call that will not be made: its Perform returns te.
func Refused(te *tools.ToolError) *Execution { return &Execution{known: true, err: te} }

// Issue validates the arguments of a call and looks it up in the journal, without blocking. The tool is an index into
// [tools.Set.Bindings]. Issue must be called in the order in which the program makes its calls. [Execution.Perform]
// returns the errors that Issue found.
func (d *Dispatcher) Issue(c tools.Call, tool int) *Execution {
	if tool < 0 || tool >= len(d.bindings) {
		return Refused(&tools.ToolError{Kind: tools.KindUnknownTool, Message: "the tool does not exist"})
	}
	c.Tool = d.bindings[tool]
	if findings := c.Tool.Check(c.Args, nil); len(findings) > 0 {
		return Refused(invalidArguments(c.Tool, "", findings))
	}
	c.Args = c.Tool.Complete(c.Args)
	x := &Execution{call: c, dispatcher: d, acts: c.Tool.ReplayClass() != tools.Read}
	x.spent = func() json.RawMessage { return nil }
	if d.attempt == nil {
		return x
	}
	entry, err := d.attempt.Issue(c, d.bindings)
	if err != nil {
		return &Execution{known: true, err: ending(err)}
	}
	result, err, ok := entry.Recorded()
	if ok {
		x.known, x.result, x.err = true, result, err
		if te, ok := err.(*tools.ToolError); ok {
			x.err = x.advised(te, te.ID)
		}
		if again, ok := entry.(Replayed); ok {
			x.performed, x.decision, x.spent = again.Performed(), again.Decision(), again.Spent
		} else {
			x.Recorded = true
		}
		return x
	}
	x.entry = entry
	if err != nil {
		x.state = StateOf(err)
	}
	return x
}

// ending converts a journal error to an error that ends the program.
func ending(err error) error {
	if hold, ok := errors.AsType[*tools.HoldError](err); ok {
		return hold
	}
	return tools.Fatal(err)
}

func invalidArguments(b *tools.Binding, prefix string, findings []schema.Finding) *tools.ToolError {
	return &tools.ToolError{
		Tool: b.Path(), Kind: tools.KindInvalidArguments, Message: prefix + schema.Summary(findings),
	}
}

// Remark returns the tool's remark about a call's result, or "" if the tool has no remark or its Remark function
// panics.
func Remark(b *tools.Binding, args, result json.RawMessage) (text string) {
	if b.Remark == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	return b.Remark(args, result)
}
