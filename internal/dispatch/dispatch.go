// Package dispatch takes the calls of a program through validation, the journal and the policies to the tools.
package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Dispatcher performs the calls of one program. It validates each call, looks it up in the
// journal, and passes it through the policies to the handler. It is safe for concurrent use.
type Dispatcher struct {
	set      *tools.Set
	bindings []*tools.Binding
	attempt  Attempt

	mu      sync.Mutex
	ended   bool
	waiting map[*pendingCall]context.CancelFunc // calls on their way to their tool
}

// New returns a Dispatcher for one program with the tools of a set. If a is nil, no calls are
// recorded.
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

// wait registers a call that is not yet dispatched. It reports whether the program is still
// running.
func (d *Dispatcher) wait(f *pendingCall) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return false
	}
	if d.waiting == nil {
		d.waiting = map[*pendingCall]context.CancelFunc{}
	}
	d.waiting[f] = f.cancel
	return true
}

// arrive unregisters a call that is about to be dispatched, or has ended. It reports
// whether the program is still running.
func (d *Dispatcher) arrive(f *pendingCall) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, f)
	return !d.ended
}

// IssuedCall is a call that has been validated and looked up in the journal.
type IssuedCall struct {
	// Recorded is set if the journal has the result, so that the tool is not called.
	Recorded bool

	pending *pendingCall // nil if result and err are known
	result  json.RawMessage
	err     error
}

// Refused returns a call that will not be made: its Perform returns te.
func Refused(te *tools.ToolError) IssuedCall { return IssuedCall{err: te} }

// Perform performs the call. It must be called exactly once, on any goroutine. Its error is a
// *[tools.ToolError], which is thrown into the program, or a *[tools.HoldError] or [tools.Fatal]
// error, which ends the program.
func (i IssuedCall) Perform(ctx context.Context) (json.RawMessage, error) {
	if i.pending == nil {
		return i.result, i.err
	}
	return i.pending.perform(ctx)
}

// Args returns the arguments with which the tool was called, which policies may have changed. It returns nil if
// the tool was not called.
func (i IssuedCall) Args() json.RawMessage {
	if i.pending == nil {
		return nil
	}
	return i.pending.args()
}

// Issue validates the arguments of a call and looks it up in the journal, without blocking. The tool is an
// index into [tools.Set.Bindings]. Issue must be called in the order in which the program makes its calls. The
// errors of Issue are returned by [IssuedCall.Perform].
func (d *Dispatcher) Issue(c tools.Call, tool int) IssuedCall {
	if tool < 0 || tool >= len(d.bindings) {
		return IssuedCall{err: &tools.ToolError{Kind: tools.KindUnknownTool, Message: "the tool does not exist"}}
	}
	c.Tool = d.bindings[tool]
	if findings := c.Tool.Check(c.Args, nil); len(findings) > 0 {
		return IssuedCall{err: invalidArguments(c.Tool, "", findings)}
	}
	c.Args = c.Tool.Complete(c.Args)
	f := &pendingCall{call: c, dispatcher: d, acts: c.Tool.ReplayClass() != tools.Read}
	if d.attempt != nil {
		entry, err := d.attempt.Issue(f.call, d.bindings)
		if err != nil {
			return IssuedCall{err: ending(err)}
		}
		if result, err, ok := entry.Recorded(); ok {
			return IssuedCall{Recorded: true, result: result, err: err}
		}
		f.entry = entry
	}
	return IssuedCall{pending: f}
}

// ending converts an error of the journal to an error that ends the program.
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

// maxState returns the state that leaves more effects possible.
func maxState(a, b State) State {
	order := []State{StateRejected, StateFailed, StateUnknown, StateOK}
	if slices.Index(order, a) < slices.Index(order, b) {
		return b
	}
	return a
}

type performedKey struct{}

// Performed returns the arguments with which the tool was last called, given the context of a policy for the call.
// Inner policies may have changed the arguments. Performed returns nil if the tool was not called.
func Performed(ctx context.Context) json.RawMessage {
	if f, ok := ctx.Value(performedKey{}).(*pendingCall); ok {
		return f.args()
	}
	return nil
}

// pendingCall is a call that is being performed. Policies may call the handler any number of
// times: each of these calls is a try. The state of the call is the maximum of the states of
// its tries (see maxState).
type pendingCall struct {
	call       tools.Call
	entry      Entry // nil without a journal
	dispatcher *Dispatcher
	cancel     context.CancelFunc // cancels the context of the policies
	acts       bool               // the call may have an effect

	mu        sync.Mutex
	pending   int // tries that have not ended
	state     State
	settled   bool            // the journal has the result of the call
	performed json.RawMessage // arguments of the last try; nil before the first
}

// args returns the arguments with which the tool was last called, or nil if it was not called.
func (f *pendingCall) args() json.RawMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.performed
}

// errEnded is the error of calls that were not dispatched when the program ended.
var errEnded = &tools.ToolError{Kind: tools.KindDenied, Message: "the program ended before the call was made"}

// perform passes the call through the policies. It always settles the journal's entry.
func (f *pendingCall) perform(ctx context.Context) (json.RawMessage, error) {
	result, err := f.chain(ctx)
	if err == nil && len(result) > 0 && !json.Valid(result) {
		err = &tools.ToolError{Kind: tools.KindInvalidResult, Message: "the call was made, but its result is not JSON"}
	}
	if hold, ok := errors.AsType[*tools.HoldError](err); ok && !tools.IsFatal(err) {
		err = hold
	} else if err != nil && !tools.IsFatal(err) {
		err = f.corrected(ToolError(ctx, f.call.Tool, err))
	}
	if err != nil || len(result) == 0 {
		result = nil
	}
	id := f.settle(result, err)
	if te, ok := err.(*tools.ToolError); ok && f.entry != nil {
		err = f.advised(te, id)
	}
	return result, err
}

// settle records in the journal how the call ended. If a policy has stopped waiting for a
// try, that try is recorded when it ends.
func (f *pendingCall) settle(result json.RawMessage, err error) (again string) {
	if f.entry == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settled = true
	return f.entry.Settled(result, err, f.pending > 0)
}

// doNotRepeat is appended to the error message of a recorded call that must not be repeated.
const doNotRepeat = ". Do not call it again; report it"

// advised returns a copy of the error that the journal recorded. The copy says whether the
// program may repeat the call.
func (f *pendingCall) advised(te *tools.ToolError, id string) *tools.ToolError {
	b := f.call.Tool
	te = te.WithCause(te.Unwrap())
	once := f.acts && b.ReplayClass() != tools.Idempotent && !b.Hints.Repeatable
	if te.ID = id; once && StateOf(te) == StateUnknown {
		te.Message = strings.ReplaceAll(te.Message, doNotRepeat, "") + doNotRepeat
	}
	return te
}

func (f *pendingCall) chain(ctx context.Context) (result json.RawMessage, err error) {
	defer f.recovered(&err, tools.KindDenied, "a policy crashed")
	ctx, f.cancel = context.WithCancel(context.WithValue(ctx, performedKey{}, f))
	defer f.cancel()
	if !f.dispatcher.wait(f) || ctx.Err() != nil {
		return nil, errEnded
	}
	defer f.dispatcher.arrive(f)
	caller := tools.Caller(tools.CallerFunc(f.try))
	if f.call.Tool.Object != globals.Tools {
		for _, policy := range slices.Backward(f.dispatcher.set.Policies(ctx)) {
			caller = policy(caller)
		}
	}
	return caller.Call(ctx, f.call)
}

// errForeignContext ends a run in which a policy breaks the contract of [tools.Policy]. With such a context,
// nothing would cancel the tool, and the effects of the tool would not count as effects of the call.
var errForeignContext = errors.New("tools: a policy called next with a context that does not derive from its own")

// try calls the handler with the arguments of c, which policies may have changed.
func (f *pendingCall) try(ctx context.Context, c tools.Call) (json.RawMessage, error) {
	if ctx.Value(performedKey{}) != f {
		return nil, tools.Fatal(errForeignContext)
	}
	b := f.call.Tool
	if !bytes.Equal(c.Args, f.call.Args) {
		if findings := b.Check(c.Args, nil); len(findings) > 0 {
			return nil, invalidArguments(b, "as changed by a policy: ", findings)
		}
		c.Args = b.Complete(c.Args)
	}
	if !f.dispatcher.arrive(f) || ctx.Err() != nil {
		return nil, errEnded
	}
	if err := f.begin(ctx, c.Args); err != nil {
		return nil, ending(err)
	}
	result, err := f.handle(ctx, c.Args)
	if err != nil && !tools.IsFatal(err) {
		err = ToolError(ctx, b, err)
	}
	f.end(ctx, result, err)
	if err != nil && !f.dispatcher.wait(f) { // a policy may ask for approval and try again
		f.cancel()
	}
	return result, err
}

func (f *pendingCall) handle(ctx context.Context, args json.RawMessage) (result json.RawMessage, err error) {
	defer f.recovered(&err, tools.KindUnknown, "the tool crashed; whether it took effect is unknown")
	if !f.acts {
		return f.call.Tool.Handler(ctx, args)
	}
	counter := &effectCounter{outer: effectCounterOf(ctx)}
	result, err = f.call.Tool.Handler(context.WithValue(ctx, effectCounterKey{}, counter), args)
	return result, counter.mark(err)
}

// recovered turns a panic into an error of the given kind. It must be deferred.
func (f *pendingCall) recovered(err *error, kind, message string) {
	if p := recover(); p != nil {
		te := &tools.ToolError{Kind: kind, Message: message}
		*err = te.WithCause(fmt.Errorf("tools: %s panicked: %v\n%s", f.call.Tool.Path(), p, debug.Stack()))
	}
}

func (f *pendingCall) begin(ctx context.Context, args json.RawMessage) error {
	if f.entry != nil {
		if err := f.entry.Dispatched(args); err != nil {
			return err
		}
	}
	if f.acts {
		effectCounterOf(ctx).add(1)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending++
	f.performed = args
	return nil
}

// end records how a try ended. If the context is done, the caller may have stopped waiting for
// the result, so the state is unknown rather than ok.
func (f *pendingCall) end(ctx context.Context, result json.RawMessage, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending--
	state := StateOf(err)
	if state == StateOK && ctx.Err() != nil {
		state = StateUnknown
	}
	if f.acts && (state == StateRejected || state == StateFailed) {
		effectCounterOf(ctx).add(-1)
	}
	f.state = maxState(f.state, state)
	if f.settled && f.entry != nil && (err != nil || json.Valid(result)) {
		f.entry.Settled(result, err, f.pending > 0)
	}
}

// stateOfTries returns the maximum of the states of all tries.
func (f *pendingCall) stateOfTries() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending > 0 {
		return maxState(f.state, StateUnknown)
	}
	return f.state
}

// corrected changes the kind of an error if it contradicts the effects of the tries. For example, a policy may
// withhold the result of a call that was made, or fail to repeat a call that timed out.
func (f *pendingCall) corrected(te *tools.ToolError) *tools.ToolError {
	state, claimed := f.stateOfTries(), StateOf(te)
	if claimed == StateUnknown || maxState(state, claimed) == claimed {
		return te
	}
	switch {
	case state == StateOK:
		te.Kind, te.Message = tools.KindInvalidResult, "the call was made, but its result is withheld: "+te.Message
	case state == StateUnknown && !f.acts:
		te.Kind, te.Message = tools.KindUnknown, "an earlier try was not answered; the last one: "+te.Message
	case state == StateUnknown:
		te.Kind, te.Message = tools.KindUnknown, "an earlier try may have taken effect; the last one: "+te.Message
	default:
		te.Kind = tools.KindFailed
	}
	return te
}

// Remark returns the tool's remark about the result of a call, or "" if the tool has none or its remark panics.
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
