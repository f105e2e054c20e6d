package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
)

// host is the outside of one run: it judges the program's report and performs
// its calls. It implements [engine.Host].
type host struct {
	ctx    context.Context // of the program and its calls
	cancel context.CancelCauseFunc

	program    *Program
	limits     Limits
	checkOnly  bool
	bindings   []*tools.Binding
	dispatcher *tools.Dispatcher
	slots      chan struct{} // one for each call under way
	start      time.Time

	mu       sync.Mutex
	findings []Finding
	calls    []*Call
	aborted  error // why the host ended the program
	over     bool  // the run has ended; who settles now is late
	running  sync.WaitGroup
}

func newHost(ctx context.Context, limits Limits, p *Program, checkOnly bool) *host {
	h := &host{
		program: p, limits: limits, checkOnly: checkOnly,
		bindings: p.Tools.Bindings(), dispatcher: p.Tools.Dispatcher(p.Ledger),
		slots: make(chan struct{}, limits.Concurrency), start: time.Now(),
	}
	h.ctx, h.cancel = context.WithCancelCause(ctx)
	return h
}

// errCallLimit ends a program that makes too many calls.
var errCallLimit = errors.New("too many tool calls")

// Report implements [engine.Host].
func (h *host) Report(r engine.Report) (allowed func() bool) {
	return func() bool {
		h.findings = h.judge(r)
		return len(h.findings) == 0 && !h.checkOnly
	}
}

// Call implements [engine.Host].
func (h *host) Call(c engine.Call, reply func(engine.Reply)) {
	if c.ID > h.limits.Calls {
		h.abort(errCallLimit)
		return
	}
	repeat, err := parseRepeat(c.More)
	if err != nil {
		te := &engine.ToolError{Tool: h.path(c.Tool), Kind: tools.KindInvalidArguments, Message: err.Error()}
		go reply(engine.Reply{Error: te})
		return
	}
	call := tools.Call{ID: c.ID, Args: c.Args, Repeat: repeat, Line: c.Line, Column: c.Column}
	issued := h.dispatcher.Issue(call, c.Tool)
	record := h.record(c, issued.Recorded)
	h.running.Add(1)
	go func() {
		defer h.running.Done()
		h.answer(record, issued, reply)
	}()
}

// answer performs a call and hands its result to the program.
func (h *host) answer(record *Call, issued tools.Issued, reply func(engine.Reply)) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-h.ctx.Done(): // Perform will say so
	}
	result, err := issued.Perform(h.ctx)
	var te *tools.ToolError
	isToolError := errors.As(err, &te) && !tools.IsFatal(err)
	h.settle(record, result, te)
	switch {
	case err == nil:
		reply(engine.Reply{Value: result})
	case isToolError:
		reply(engine.Reply{Error: &engine.ToolError{Tool: te.Tool, Kind: te.Kind, Message: te.Message, Data: te.Data}})
	default:
		h.abort(err)
	}
}

func (h *host) record(c engine.Call, recorded bool) *Call {
	record := &Call{
		ID: c.ID, Tool: h.path(c.Tool), Args: c.Args, Recorded: recorded, Pending: true,
		Started: time.Since(h.start), Line: c.Line, Column: c.Column,
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, record)
	return record
}

func (h *host) settle(record *Call, result json.RawMessage, err *tools.ToolError) {
	h.mu.Lock()
	record.Result, record.Error, record.Pending = result, err, false
	record.Duration = time.Since(h.start) - record.Started
	ended, over := *record, h.over
	h.mu.Unlock()
	if h.program.OnCall != nil && !over {
		h.program.OnCall(ended)
	}
}

func (h *host) path(tool int) string {
	if tool < 0 || tool >= len(h.bindings) {
		return ""
	}
	return h.bindings[tool].Path()
}

// abort ends the program; it cannot catch that.
func (h *host) abort(err error) {
	h.mu.Lock()
	if h.aborted == nil {
		h.aborted = err
	}
	h.mu.Unlock()
	h.cancel(err)
}

// settleTime is how long handlers that were told to stop may take to do so.
const settleTime = 200 * time.Millisecond

// end cancels the calls still under way and waits for them, but not for long.
func (h *host) end() {
	h.cancel(context.Canceled)
	if len(h.calls) == 0 {
		return
	}
	ended := make(chan struct{})
	go func() {
		h.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(settleTime):
	}
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
}

// fatal returns the error that ended the run, if it is none of the program's.
func (h *host) fatal(ctx context.Context, out *Outcome) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var hold *tools.HoldError
	switch err := h.aborted; {
	case err == nil, errors.As(err, &hold), errors.Is(err, errCallLimit):
	default:
		return fmt.Errorf("sandbox: %w", err)
	}
	if out.Failure != nil && out.Failure.Kind == Stopped && ctx.Err() != nil {
		return fmt.Errorf("sandbox: %w", context.Cause(ctx))
	}
	return nil
}

// outcome puts together what the engine says and what the host knows.
func (h *host) outcome(r *engine.Result) *Outcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := &Outcome{
		Value: r.Value, Submitted: r.Submitted,
		Stdout: Output(r.Stdout), Stderr: Output(r.Stderr),
		Duration: time.Since(h.start),
	}
	for _, c := range h.calls {
		out.Calls = append(out.Calls, *c)
	}
	if r.Failure != nil {
		out.Failure = h.failure(r.Failure)
	}
	if h.checkOnly && out.Failure != nil && out.Failure.Ran() {
		out.Failure = nil // refused by the check itself, for no other reason
	}
	return out
}

// failure words an engine's failure.
func (h *host) failure(f *engine.Failure) *Failure {
	finding := h.finding(Kind(f.Kind), f.Message, f.Hint, f.Pos)
	switch f.Kind {
	case engine.Syntax:
		return refusal([]Finding{finding})
	case engine.Refused:
		if len(h.findings) > 0 {
			return refusal(h.findings)
		}
	case engine.Stopped:
		return h.stopped(finding)
	case engine.Timeout:
		finding.Message = fmt.Sprintf("the program ran longer than %v", h.timeLimit())
	}
	out := &Failure{Finding: finding}
	for _, at := range f.Stack {
		out.Stack = append(out.Stack, fmt.Sprintf("line %d, column %d", at.Line, at.Column))
	}
	if f.Tool != nil {
		out.Kind = ToolFailed
		out.Tool = &tools.ToolError{Tool: f.Tool.Tool, Kind: f.Tool.Kind, Message: f.Tool.Message}
	}
	return out
}

// stopped says why the host ended the program.
func (h *host) stopped(finding Finding) *Failure {
	f := &Failure{Finding: finding}
	switch {
	case errors.Is(h.aborted, errCallLimit):
		f.Kind = CallLimit
		f.Message = fmt.Sprintf("the program made more than %d tool calls", h.limits.Calls)
		f.Hint = "ask for more at once, or do less in one program"
	case errors.As(h.aborted, &f.Hold):
		f.Kind, f.Message = Held, f.Hold.Error()
	}
	return f
}

func (h *host) timeLimit() time.Duration {
	if h.program.Timeout > 0 {
		return min(h.program.Timeout, h.limits.Time)
	}
	return h.limits.Time
}

func (h *host) finding(kind Kind, message, hint string, at engine.Pos) Finding {
	return Finding{
		Kind: kind, Message: message, Hint: hint,
		Line: at.Line, Column: at.Column, Frame: frame(h.program.Source, at.Line, at.Column),
	}
}

// parseRepeat reads the second argument of a call.
func parseRepeat(more json.RawMessage) (*tools.Repeat, error) {
	if more == nil {
		return nil, nil
	}
	var r tools.Repeat
	if err := json.Unmarshal(more, &r); err != nil {
		return nil, errors.New("the second argument of a tool is {same}, {again} or {distinct}; everything else goes into the first")
	}
	if r.Same == "" && r.Again == "" && len(r.Distinct) == 0 {
		return nil, nil
	}
	return &r, nil
}
