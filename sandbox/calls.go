package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
)

// Call implements [engine.Host].
func (h *host) Call(c engine.Call, reply func(engine.Reply)) {
	c.Pos = h.origin.pos(c.Pos)
	h.recordTurns(c.Turns)
	number, answer := h.recordCall(c), reply
	reply = func(r engine.Reply) {
		h.recordReply(number, r)
		answer(r)
	}
	if te := h.overLimit(c.Tool); te != nil {
		h.goroutines.do(func() { reply(engine.Reply{Error: te}) })
		return
	}
	if c.Tool >= 0 && c.Tool < len(h.bindings) { // so that policies, the journal and the handler get an object
		c.Args = dispatch.Named(h.bindings[c.Tool], c.Args)
	}
	t := h.begin(c)
	if t == nil {
		return
	}
	execution := h.issue(c)
	h.mu.Lock()
	if t.Recorded = execution.Recorded; !t.Recorded {
		h.count(t.Tool)
	}
	t.execution = execution
	h.mu.Unlock()
	h.pause(1, 0)
	h.goroutines.do(func() {
		defer h.running.Done()
		t.perform(reply)
	})
}

// maxRefused is the number of rejected calls after which the host ends the program.
const maxRefused = 1000

// overLimit returns the error for a call beyond Limits.Calls, or nil.
func (h *host) overLimit(tool int) *engine.ToolError {
	h.mu.Lock()
	path := h.path(tool)
	if h.uncounted[path] < h.program.Uncounted[path] || h.counted < h.limits.Calls {
		h.mu.Unlock()
		return nil
	}
	h.refused++
	te := engineError(&tools.ToolError{Tool: path, Kind: tools.KindLimit, Message: fmt.Sprintf(
		"a program may make %d tool calls%s; this call was not made; "+
			"look for an endless loop, or print what you have", h.limits.Calls, h.uncountedCalls())})
	endless := h.refused > maxRefused
	h.mu.Unlock()
	if endless {
		h.abort(errCallLimit)
	}
	return te
}

// count counts a call that the journal does not answer. path is its tool's path.
func (h *host) count(path string) {
	if h.uncounted[path] >= h.program.Uncounted[path] {
		h.counted++
		return
	}
	engine.Put(&h.uncounted, path, h.uncounted[path]+1)
}

// tracker tracks one of the program's calls: what is known about it, its execution, and whether it occupies one of the
// Limits.Concurrency slots. The call leaves its slot while it waits for a person, or for a nested run, which has its
// own limits. While all calls in progress have left their slots, the clocks of the program stand still.
type tracker struct {
	host *host

	Call                          // changes are guarded by host.mu; Tool and execution are set before the call runs
	execution *dispatch.Execution // nil until the call is issued

	mu    sync.Mutex
	holds bool // the call occupies a slot
	over  bool // the call has ended
	waits int  // how many persons and nested runs the call waits for

	// What the call waits for, guarded by host.mu.
	decisions int  // number of decisions that may take longer than the process lives
	runs      int  // number of nested runs
	resting   int  // number of nested runs that are at rest
	done      bool // the call has ended
	paused    bool // the call ended because the run was paused
}

// begin starts to track a call. It returns nil if the program has ended.
func (h *host) begin(c engine.Call) *tracker {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.aborted != nil || h.over {
		return nil
	}
	if h.slots == nil {
		h.slots = make(chan struct{}, h.limits.Concurrency)
	}
	t := &tracker{host: h, Call: Call{
		ID: c.ID, Tool: h.path(c.Tool), Args: c.Args, Pending: true,
		Started: time.Since(h.start), Line: c.Line, Column: c.Column,
	}}
	h.calls = append(h.calls, t)
	h.running.Add(1)
	return t
}

// issue passes a call to the dispatcher, unless its arguments are invalid for every tool.
func (h *host) issue(c engine.Call) *dispatch.Execution {
	invalid := &tools.ToolError{Tool: h.path(c.Tool), Kind: tools.KindInvalidArguments}
	repeat, err := parseRepeat(c.More)
	isObject := func(v json.RawMessage) bool { return bytes.HasPrefix(v, []byte("{")) }
	given := "several arguments"
	if !isObject(c.Args) {
		given = valueText(c.Args)
	}
	mayAnswerHold := h.program.Attempt != nil && isObject(c.More) // only a journal holds calls
	switch {
	case c.Tool >= 0 && c.Tool < len(h.bindings) && (!isObject(c.Args) || err != nil && !mayAnswerHold):
		invalid.Message = fmt.Sprintf("a tool takes one object, not %s; %s", given, declaredAs(h.bindings[c.Tool]))
		return dispatch.Refused(invalid)
	case err != nil:
		invalid.Message = err.Error()
		return dispatch.Refused(invalid)
	}
	return h.dispatcher.Issue(tools.Call{
		ID: c.ID, Args: c.Args, Repeat: repeat, Line: c.Line, Column: c.Column, Program: h.program.Source,
	}, c.Tool)
}

// maxNames is the maximum number of calls that a second argument may name.
const maxNames = 1000

// parseRepeat parses a call's second argument.
func parseRepeat(more json.RawMessage) (*tools.Repeat, error) {
	if more == nil {
		return nil, nil
	}
	r, err := dispatch.DecodeRepeat(more)
	if err != nil {
		return nil, errors.New(`the second argument of a tool call only answers a hold: {same: "E7"}, {again: "E2"}, ` +
			`{distinct: "all"} or {fresh: true}; put everything else into the first argument`)
	}
	names := len(r.Again) + len(r.Distinct)
	switch {
	case names > maxNames:
		return nil, fmt.Errorf("the second argument names more than %d calls", maxNames)
	case r.Same == "" && names == 0 && !r.Fresh:
		return nil, nil
	}
	return r, nil
}

// perform performs the call and replies to the program.
func (t *tracker) perform(reply func(engine.Reply)) {
	h := t.host
	t.enter() // returns early if the program ends; then Perform returns an error
	defer t.end()
	returned := false
	defer func() {
		if !returned { // runtime.Goexit has ended the goroutine, for example by t.FailNow
			h.abort(fmt.Errorf("the handler of %s ended with runtime.Goexit instead of returning", t.Tool))
		}
	}()
	t.update(func() {}, "Program.OnCalling", h.program.OnCalling)
	result, err := t.execution.Perform(place.With(h.callCtx, t))
	returned = true
	te, catchable := toolError(err, t.Tool)
	if errors.Is(err, place.ErrPaused) {
		t.park(func() { t.paused = true })
	} else {
		t.settle(result, te)
	}
	switch {
	case tools.IsFatal(err) && h.callCtx.Err() == nil: // aborts the run even if the program has ended
		h.abort(fmt.Errorf("tool %s: %w", t.Tool, err))
	case h.hasEnded(): // the program gets no reply
	case err == nil:
		reply(resultReply(t.Tool, result))
	case catchable:
		reply(engine.Reply{Error: engineError(te)})
	default:
		h.abort(err)
	}
}

// resultReply returns the reply with a result, or with an error if the program cannot receive the result: a worker
// could not decode a result that is nested too deeply.
func resultReply(tool string, result json.RawMessage) engine.Reply {
	if err := engine.Check(result); err != nil {
		return engine.Reply{Error: &engine.ToolError{
			Tool: tool, Kind: tools.KindInvalidResult, Message: "the result: " + err.Error(),
		}}
	}
	return engine.Reply{Value: result}
}

// engineError converts an error to the error that the engine throws into the program. It replaces invalid UTF-8, which
// a session's record cannot contain.
func engineError(e *tools.ToolError) *engine.ToolError {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
	data := e.Data
	if engine.Check(data) != nil {
		data = nil
	}
	return &engine.ToolError{Tool: valid(e.Tool), Kind: valid(e.Kind), Message: valid(e.Message), ID: e.ID, Data: data}
}

// toolError converts a call's error to the ToolError in the outcome. It reports whether the program may catch the
// error.
func toolError(err error, tool string) (te *tools.ToolError, catchable bool) {
	var hold *tools.HoldError
	switch {
	case err == nil:
		return nil, false
	case !tools.IsFatal(err) && errors.As(err, &te):
		return te, true
	case errors.As(err, &hold):
		return (&tools.ToolError{Tool: tool, Kind: tools.KindDenied, Message: hold.Error()}).WithCause(err), false
	}
	return (&tools.ToolError{Tool: tool, Kind: tools.KindUnknown, Message: err.Error()}).WithCause(err), false
}

// settle records the call's result.
func (t *tracker) settle(result json.RawMessage, err *tools.ToolError) {
	performed := t.execution.Args()
	t.update(func() {
		t.Result, t.Error, t.Pending = result, err, false
		t.Decision = t.execution.Decision()
		if performed != nil {
			t.Args = performed
		}
		t.Duration = time.Since(t.host.start) - t.Started
	}, "Program.OnCall", t.host.program.OnCall)
}

// update changes the recorded call and, unless the run is over, passes a copy to an observer of the program. If the
// observer panics, the run ends.
func (t *tracker) update(change func(), name string, observer func(Call)) {
	h := t.host
	h.mu.Lock()
	change()
	updated, over := t.Call, h.over
	h.mu.Unlock()
	if observer == nil || over {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			h.abort(fmt.Errorf("%s panicked: %v\n%s", name, p, debug.Stack()))
		}
	}()
	observer(updated)
}

// resultLimiter limits the total size of one run's results. It is the innermost policy, so that a result that is too
// large does not reach other policies or the journal.
type resultLimiter struct {
	each, all int // the limits for one result and for all results, in bytes

	mu   sync.Mutex
	used int // bytes used so far
}

// policy is a [tools.Policy].
func (r *resultLimiter) policy(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		result, err := next.Call(ctx, c)
		if te, ok := errors.AsType[*tools.ToolError](err); ok && !tools.IsFatal(err) {
			return nil, r.failure(te)
		}
		if excess := r.take(len(result)); err == nil && excess != "" {
			return nil, &tools.ToolError{
				Kind: tools.KindTooLarge, Message: "the call was made, but its result " + excess,
			}
		}
		return result, err
	})
}

// failure returns the error, with another message if the error is too large.
func (r *resultLimiter) failure(te *tools.ToolError) error {
	excess := r.take(len(te.Message) + len(te.Data))
	if excess == "" {
		return te
	}
	short := *te
	short.Message, short.Data = "the call failed, and its error "+excess, nil
	if dispatch.StateOf(te) == dispatch.StateOK {
		short.Message = "the call was made, but its error " + excess
	}
	return &short
}

// take counts the bytes of a result. If the result is too large, take returns the end of a message about it.
func (r *resultLimiter) take(size int) (excess string) {
	if size > r.each {
		return fmt.Sprintf("has %d bytes; %d are allowed; request less at a time", size, r.each)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used+size > r.all {
		return fmt.Sprintf("has %d bytes; all results of a program together may have %d, and %d are left; "+
			"request less, or continue in another program", size, r.all, r.all-r.used)
	}
	r.used += size
	return ""
}
