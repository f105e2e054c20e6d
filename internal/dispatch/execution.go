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

	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
)

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
	if x, ok := ctx.Value(performedKey{}).(*Execution); ok {
		return x.Args()
	}
	return nil
}

// Deciders adds a name, unless it is empty, to those who approved or refused a call, and returns all. See [Performed].
func Deciders(ctx context.Context, add string) []string {
	x, ok := ctx.Value(performedKey{}).(*Execution)
	if !ok {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if add != "" && !slices.Contains(x.deciders, add) {
		x.deciders = append(x.deciders, add)
	}
	return slices.Clone(x.deciders)
}

// Decided notes how a call was approved or refused, given the context of a policy for the call.
func Decided(ctx context.Context, decision string) {
	if x, ok := ctx.Value(performedKey{}).(*Execution); ok {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.decision = decision
	}
}

type replayKey struct{}

// WithReplay returns a context in which f is called for calls that were recorded when the same program ran before, with
// the context of the call.
func WithReplay(ctx context.Context, f func(context.Context)) context.Context {
	return context.WithValue(ctx, replayKey{}, f)
}

// Execution executes one call, which has been validated and looked up in the journal. Policies may call the handler any
// number of times: each of these calls is a try. The call's state is the maximum of its tries' states (see maxState).
type Execution struct {
	// Recorded is set if the journal has the result, so that the tool is not called.
	Recorded bool

	known  bool // result and err are known before Perform
	result json.RawMessage
	err    error

	call       tools.Call
	entry      Entry // nil without a journal
	dispatcher *Dispatcher
	cancel     context.CancelFunc // cancels the policies' context
	acts       bool               // the call may have an effect

	mu        sync.Mutex
	pending   int // tries that have not ended
	tries     int
	state     State
	settled   bool            // the journal has the call's result
	performed json.RawMessage // the last try's arguments; nil before the first
	deciders  []string        // who approved or refused the call
	decision  string          // see Decided
}

// Decision returns what [Decided] noted last, or "".
func (x *Execution) Decision() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.decision
}

// Args returns the arguments with which the tool was last called, or nil if it was not called. Policies may have
// changed the arguments.
func (x *Execution) Args() json.RawMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.performed
}

// errEnded is the error for calls that had not been dispatched when the program ended.
var errEnded = &tools.ToolError{Kind: tools.KindDenied, Message: "the program ended before the call was made"}

// Perform passes the call through the policies to the tool, unless its result is known. It always settles the journal's
// entry. Perform must be called exactly once, on any goroutine. Its error is a *[tools.ToolError], which is thrown into
// the program, or a *[tools.HoldError] or [tools.Fatal] error, which ends the program.
func (x *Execution) Perform(ctx context.Context) (json.RawMessage, error) {
	if x.known {
		if f, ok := ctx.Value(replayKey{}).(func(context.Context)); ok && x.performed != nil {
			f(ctx)
		}
		if s := StateOf(x.err); x.performed != nil && x.acts && (s == StateOK || s == StateUnknown) {
			effectCounterOf(ctx).add(1)
		}
		return x.result, x.err
	}
	result, err := x.chain(ctx)
	interrupted := err != nil && (ctx.Err() != nil || errors.Is(err, errEnded))
	if err == nil && len(result) > 0 && !json.Valid(result) {
		err = &tools.ToolError{Kind: tools.KindInvalidResult, Message: "the call was made, but its result is not JSON"}
	}
	if hold, ok := errors.AsType[*tools.HoldError](err); ok && !tools.IsFatal(err) {
		err = hold
	} else if err != nil && !tools.IsFatal(err) {
		err = x.corrected(ToolError(ctx, x.call.Tool, err))
	}
	if err != nil || len(result) == 0 {
		result = nil
	}
	if err != nil && errors.Is(context.Cause(ctx), place.ErrPaused) { // the call waited when the run was paused
		err = tools.Fatal(place.ErrPaused)
	}
	ended := err
	if interrupted {
		ended = &InterruptedError{err}
	}
	id := x.settle(result, ended)
	if te, ok := err.(*tools.ToolError); ok && x.entry != nil {
		err = x.advised(te, id)
	}
	return result, err
}

// settle records in the journal how the call ended. A try that a policy no longer waits for is recorded when the try
// ends.
func (x *Execution) settle(result json.RawMessage, err error) (again string) {
	if x.entry == nil {
		return ""
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.settled = true
	return x.entry.Settled(result, err, x.decision, x.pending > 0)
}

// doNotRepeat is appended to a recorded call's error message if the call must not be repeated.
const doNotRepeat = ". Do not call it again; report it"

// advised returns a copy of an error that the journal has recorded. The copy has the ID with which the program may
// repeat the call, or says that the program must not repeat it.
func (x *Execution) advised(te *tools.ToolError, id string) *tools.ToolError {
	b := x.call.Tool
	te = te.WithCause(te.Unwrap())
	once := x.acts && b.ReplayClass() != tools.Idempotent && !b.Hints.Repeatable
	if te.ID = id; once && StateOf(te) == StateUnknown {
		te.Message = strings.ReplaceAll(te.Message, doNotRepeat, "") + doNotRepeat
	}
	return te
}

func (x *Execution) chain(ctx context.Context) (result json.RawMessage, err error) {
	defer x.recovered(&err, tools.KindDenied, "a policy crashed")
	ctx = effect.With(context.WithValue(ctx, performedKey{}, x), x.effect(ctx))
	outer := ctx
	ctx, cancel := context.WithCancelCause(outer)
	x.cancel = func() { cancel(context.Cause(outer)) } // ctx may not know yet why outer was canceled
	defer x.cancel()
	if !x.dispatcher.wait(x) || ctx.Err() != nil {
		return nil, errEnded
	}
	defer x.dispatcher.arrive(x)
	caller := tools.Caller(tools.CallerFunc(x.try))
	if x.call.Tool.Object != globals.Tools {
		for _, policy := range slices.Backward(x.dispatcher.set.Policies(ctx)) {
			caller = policy(caller)
		}
	}
	return caller.Call(ctx, x.call)
}

// effect returns the ID of the call, and not that of a recorded call whose handler makes the call.
func (x *Execution) effect(ctx context.Context) (id effect.ID) {
	if x.entry != nil {
		id = x.entry.Effect()
	}
	id.Caller = effect.RunOf(ctx)
	if x.acts {
		id.Server, id.Tool = x.call.Tool.Namespace, x.call.Tool.Name
	}
	return id
}

// errForeignContext ends a run in which a policy calls next with an unrelated context, which [tools.Policy] forbids:
// nothing would cancel the tool, and the tool's effects would not count as effects of the call.
var errForeignContext = errors.New("tools: a policy called next with a context that does not derive from its own")

// try calls the handler with the arguments of c, which policies may have changed.
func (x *Execution) try(ctx context.Context, c tools.Call) (json.RawMessage, error) {
	if ctx.Value(performedKey{}) != x {
		return nil, tools.Fatal(errForeignContext)
	}
	b := x.call.Tool
	if !bytes.Equal(c.Args, x.call.Args) {
		if findings := b.Check(c.Args, nil); len(findings) > 0 {
			return nil, invalidArguments(b, "as changed by a policy: ", findings)
		}
		c.Args = b.Complete(c.Args)
	}
	if !x.dispatcher.arrive(x) || ctx.Err() != nil {
		return nil, errEnded
	}
	if err := x.begin(ctx, c.Args); err != nil {
		return nil, ending(err)
	}
	result, err := x.handle(x.ofAgent(ctx), c.Args)
	if err != nil && !tools.IsFatal(err) {
		err = ToolError(ctx, b, err)
	}
	x.end(ctx, result, err)
	if err != nil && !x.dispatcher.wait(x) { // a policy may ask for approval and try again
		x.cancel()
	}
	return result, err
}

// ofAgent returns the context of a try. Only a tool that runs a module needs another one than the policies.
func (x *Execution) ofAgent(ctx context.Context) context.Context {
	if x.call.Tool.Module == nil {
		return ctx
	}
	id := effect.Of(ctx)
	x.mu.Lock()
	id.Try = x.tries
	x.mu.Unlock()
	return effect.With(effect.WithAgent(ctx, x.call.Tool.Path()), id)
}

func (x *Execution) handle(ctx context.Context, args json.RawMessage) (result json.RawMessage, err error) {
	defer x.recovered(&err, tools.KindUnknown, "the tool crashed; whether it took effect is unknown")
	if !x.acts {
		return x.answer(ctx, args)
	}
	counter := &effectCounter{outer: effectCounterOf(ctx)}
	result, err = x.answer(context.WithValue(ctx, effectCounterKey{}, counter), args)
	return result, counter.mark(err)
}

// recovered turns a panic into an error of the given kind. It must be deferred.
func (x *Execution) recovered(err *error, kind, message string) {
	if p := recover(); p != nil {
		te := &tools.ToolError{Kind: kind, Message: message}
		*err = te.WithCause(fmt.Errorf("tools: %s panicked: %v\n%s", x.call.Tool.Path(), p, debug.Stack()))
	}
}

func (x *Execution) begin(ctx context.Context, args json.RawMessage) error {
	if x.entry != nil {
		if err := x.entry.Dispatched(args); err != nil {
			return err
		}
	}
	if x.acts {
		effectCounterOf(ctx).add(1)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pending++
	x.tries++
	x.performed = args
	return nil
}

// end records how a try ended. If the context is done, the caller may have stopped waiting for
// the result, so the state is unknown rather than ok.
func (x *Execution) end(ctx context.Context, result json.RawMessage, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pending--
	state := StateOf(err)
	if state == StateOK && ctx.Err() != nil {
		state = StateUnknown
	}
	if x.acts && (state == StateRejected || state == StateFailed) {
		effectCounterOf(ctx).add(-1)
	}
	x.state = maxState(x.state, state)
	if x.settled && x.entry != nil && (err != nil || json.Valid(result)) {
		if err != nil {
			err = &InterruptedError{err}
		}
		x.entry.Settled(result, err, x.decision, x.pending > 0)
	}
}

// stateOfTries returns the maximum of all tries' states.
func (x *Execution) stateOfTries() State {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pending > 0 {
		return maxState(x.state, StateUnknown)
	}
	return x.state
}

// corrected changes an error's kind if it contradicts the effects of the tries. For example, a policy may withhold the
// result of a call that was made, or fail to repeat a call that timed out.
func (x *Execution) corrected(te *tools.ToolError) *tools.ToolError {
	state, claimed := x.stateOfTries(), StateOf(te)
	if claimed == StateUnknown || maxState(state, claimed) == claimed {
		return te
	}
	switch {
	case state == StateOK:
		te.Kind, te.Message = tools.KindInvalidResult, "the call was made, but its result is withheld: "+te.Message
	case state == StateUnknown && !x.acts:
		te.Kind, te.Message = tools.KindUnknown, "an earlier try was not answered; the last try: "+te.Message
	case state == StateUnknown:
		te.Kind, te.Message = tools.KindUnknown, "an earlier try may have taken effect; the last try: "+te.Message
	default:
		te.Kind = tools.KindFailed
	}
	return te
}
