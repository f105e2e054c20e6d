package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/writ-go/writ/signature/schema"
)

// Dispatcher takes the calls of one run down the chain: validate, look up in
// the journal, policies, record, handler, record. It is what a sandbox uses. It
// is safe for concurrent use.
type Dispatcher struct {
	bindings []*Binding
	policies []Policy
	attempt  Attempt

	mu      sync.Mutex
	ended   bool
	waiting map[*flight]context.CancelFunc // calls on their way to their tool
}

// Dispatcher returns the chain for one run. A nil journal records nothing.
func (s *Set) Dispatcher(l Attempt) *Dispatcher {
	if s == nil {
		return &Dispatcher{}
	}
	return &Dispatcher{bindings: s.bindings, policies: s.policies, attempt: l}
}

// End says that the program is over: a call that has not reached its tool never
// will, and a policy that waits for somebody's approval is told by its context.
// Calls that are with their tools go on.
func (d *Dispatcher) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for _, cancel := range d.waiting {
		cancel()
	}
	d.waiting = nil
}

// wait notes a call that is on its way to its tool. It reports whether the program
// still runs.
func (d *Dispatcher) wait(f *flight) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return false
	}
	if d.waiting == nil {
		d.waiting = map[*flight]context.CancelFunc{}
	}
	d.waiting[f] = f.cancel
	return true
}

// arrive notes that a call is with its tool, or over. It reports whether the
// program still runs.
func (d *Dispatcher) arrive(f *flight) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, f)
	return !d.ended
}

// IssuedCall is a call that has been validated and looked up.
type IssuedCall struct {
	// Recorded says that the journal has the outcome and nothing will be done.
	Recorded bool

	flight *flight // nil if the end is known
	result json.RawMessage
	err    error
}

// Refused is a call that is answered by an error, and not made.
func Refused(te *ToolError) IssuedCall { return IssuedCall{err: te} }

// Perform performs the call, on any goroutine, and must be called once. Its error
// is a *[ToolError] for the program, or ends the run: a *[HoldError] or a [Fatal]
// error.
func (i IssuedCall) Perform(ctx context.Context) (json.RawMessage, error) {
	if i.flight == nil {
		return i.result, i.err
	}
	return i.flight.perform(ctx)
}

// Args returns the arguments with which the call was made, which policies may have
// changed; nil if it did not reach its tool.
func (i IssuedCall) Args() json.RawMessage {
	if i.flight == nil {
		return nil
	}
	return i.flight.args()
}

// Issue takes in one call; tool is an index into [Set.Bindings]. It validates
// the arguments and consults the journal, which is quick, and must be called in
// the order in which the program makes its calls. What is wrong with the call
// is told by Perform.
func (d *Dispatcher) Issue(c Call, tool int) IssuedCall {
	if tool < 0 || tool >= len(d.bindings) {
		return IssuedCall{err: &ToolError{Kind: KindUnknownTool, Message: "the tool does not exist"}}
	}
	c.Tool = d.bindings[tool]
	if findings := c.Tool.Check(c.Args, nil); len(findings) > 0 {
		return IssuedCall{err: invalidArguments(c.Tool, "", findings)}
	}
	c.Args = c.Tool.complete(c.Args)
	f := &flight{call: c, dispatcher: d}
	f.call.flight = f
	if d.attempt != nil {
		entry, err := d.attempt.Issue(c)
		if err != nil {
			return IssuedCall{err: ending(err)}
		}
		if result, err, ok := entry.Recorded(); ok {
			return IssuedCall{Recorded: true, result: result, err: err}
		}
		f.entry = entry
	}
	return IssuedCall{flight: f}
}

// ending is a journal's error as one that ends the run.
func ending(err error) error {
	if hold, ok := errors.AsType[*HoldError](err); ok {
		return hold
	}
	return Fatal(err)
}

func invalidArguments(b *Binding, prefix string, findings []schema.Finding) *ToolError {
	return &ToolError{Tool: b.Path(), Kind: KindInvalidArguments, Message: prefix + schema.Summary(findings)}
}

// flight is one call being made. Policies may let it reach the handler never,
// once or often; it stands for the most that any of these tries may have done.
type flight struct {
	call       Call
	entry      Entry // nil without a journal
	dispatcher *Dispatcher
	cancel     context.CancelFunc // of the policies

	mu        sync.Mutex
	pending   int // tries without an answer yet
	did       State
	settled   bool            // the journal has been told how the call ended
	performed json.RawMessage // what the tool was called with; nil if it was not
}

// args returns what the tool was called with; nil if it was not.
func (f *flight) args() json.RawMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.performed
}

// errEnded answers calls of a program that is over.
var errEnded = &ToolError{Kind: KindDenied, Message: "the program ended before the call was made"}

// perform takes the call through the policies. Whatever happens, the entry is
// settled.
func (f *flight) perform(ctx context.Context) (json.RawMessage, error) {
	result, err := f.chain(ctx)
	if err == nil && len(result) > 0 && !json.Valid(result) {
		err = &ToolError{Kind: KindInvalidResult, Message: "the call was made, but its result is not JSON"}
	}
	if hold, ok := errors.AsType[*HoldError](err); ok && !IsFatal(err) {
		err = hold
	} else if err != nil && !IsFatal(err) {
		err = f.honest(asToolError(ctx, f.call.Tool, err))
	}
	if err != nil || len(result) == 0 {
		result = nil
	}
	f.settle(result, err)
	return result, err
}

// settle tells the journal how the call ended. If a try is still under way, as behind a
// policy that gave up waiting, the end of that try is told, too.
func (f *flight) settle(result json.RawMessage, err error) {
	if f.entry == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settled = true
	f.entry.Settled(result, err, f.pending > 0)
}

func (f *flight) chain(ctx context.Context) (result json.RawMessage, err error) {
	defer f.recovered(&err, KindDenied, "a policy broke down")
	ctx, f.cancel = context.WithCancel(ctx)
	defer f.cancel()
	if !f.dispatcher.wait(f) || ctx.Err() != nil {
		return nil, errEnded
	}
	defer f.dispatcher.arrive(f)
	caller := Caller(CallerFunc(f.try))
	if f.call.Tool.Object != BuiltinNamespace {
		for _, policy := range slices.Backward(f.dispatcher.policies) {
			caller = policy(caller)
		}
	}
	return caller.Call(ctx, f.call)
}

// try calls the handler, with the arguments of c, which policies may have
// changed.
func (f *flight) try(ctx context.Context, c Call) (json.RawMessage, error) {
	b := f.call.Tool
	if !bytes.Equal(c.Args, f.call.Args) {
		if findings := b.Check(c.Args, nil); len(findings) > 0 {
			return nil, invalidArguments(b, "as changed by a policy: ", findings)
		}
		c.Args = b.complete(c.Args)
	}
	if !f.dispatcher.arrive(f) || ctx.Err() != nil {
		return nil, errEnded
	}
	if err := f.begin(ctx, c.Args); err != nil {
		return nil, ending(err)
	}
	result, err := f.handle(ctx, c.Args)
	if err != nil && !IsFatal(err) {
		err = asToolError(ctx, b, err)
	}
	f.end(ctx, result, err)
	if err != nil && !f.dispatcher.wait(f) { // a policy may try again, and ask somebody before
		f.cancel()
	}
	return result, err
}

func (f *flight) handle(ctx context.Context, args json.RawMessage) (result json.RawMessage, err error) {
	defer f.recovered(&err, KindUnknown, "the tool broke down"+unsure)
	if !f.acts() {
		return f.call.Tool.Handler(ctx, args)
	}
	w := &within{Context: ctx, outer: withinOf(ctx)}
	result, err = f.call.Tool.Handler(w, args)
	return result, w.whole(err)
}

// acts reports whether the call may change something.
func (f *flight) acts() bool {
	return f.call.Tool.ReplayClass() != Read
}

// recovered, when deferred, turns a panic into an error.
func (f *flight) recovered(err *error, kind, message string) {
	if p := recover(); p != nil {
		cause := fmt.Errorf("tools: %s panicked: %v\n%s", f.call.Tool.Path(), p, debug.Stack())
		*err = &ToolError{Kind: kind, Message: message, err: cause}
	}
}

func (f *flight) begin(ctx context.Context, args json.RawMessage) error {
	if f.entry != nil {
		if err := f.entry.Dispatched(args); err != nil {
			return err
		}
	}
	if f.acts() {
		withinOf(ctx).add(1)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending++
	f.performed = args
	return nil
}

// end takes in how a try ended. A result that comes when its context is done may
// have come too late for whoever asked, and is then no result that a policy
// withholds.
func (f *flight) end(ctx context.Context, result json.RawMessage, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending--
	did := StateOf(err)
	if ctx.Err() != nil {
		did = min(did, StateUnknown)
	}
	if f.acts() && did <= StateFailed {
		withinOf(ctx).add(-1)
	}
	f.did = max(f.did, did)
	if f.settled && f.entry != nil && (err != nil || json.Valid(result)) {
		f.entry.Settled(result, err, f.pending > 0)
	}
}

// outcome is the most that the tries may have done by now.
func (f *flight) outcome() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending > 0 {
		return max(f.did, StateUnknown)
	}
	return f.did
}

// honest keeps an error from claiming less than the tries may have done: a
// policy may have refused a result, or have failed to repeat what timed out. An
// error that leaves open what was done claims nothing.
func (f *flight) honest(te *ToolError) *ToolError {
	did, said := f.outcome(), StateOf(te)
	if said >= did || said == StateUnknown {
		return te
	}
	switch {
	case did == StateOK:
		te.Kind, te.Message = KindInvalidResult, "the call was made, but its result is withheld: "+te.Message
	case did == StateUnknown && !f.acts():
		te.Kind, te.Message = KindUnknown, "an earlier try had no answer; the last one: "+te.Message
	case did == StateUnknown:
		te.Kind, te.Message = KindUnknown, "an earlier try may have taken effect; the last one: "+te.Message
	default:
		te.Kind = KindFailed
	}
	return te
}
