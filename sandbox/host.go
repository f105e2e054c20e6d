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

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
)

// host is the outside of one run: it judges the program's report and performs
// its calls. It implements [engine.Host].
type host struct {
	ctx         context.Context // of the program
	stop        context.CancelCauseFunc
	parent      context.Context // of the caller
	callCtx     context.Context // of the calls, which may outlive the program: see end; nil before the first
	cancelCalls context.CancelCauseFunc

	program    *Program
	lasting    []engine.Input // of its session
	limits     Limits
	rules      *Rules   // nil for none
	imports    []Import // of the program, as its compiler says
	checkOnly  bool
	preludes   *preludes // of the sandbox
	bindings   []*tools.Binding
	dispatcher *tools.Dispatcher
	discovery  *discovery.Discovery
	slots      chan struct{} // one for each call under way; nil before the first
	dropping   sync.Once
	closing    chan struct{} // closed when the program has ended: it learns nothing more
	dropped    chan struct{} // closed when, for that reason, no call reaches its tool any more
	start      time.Time

	mu        sync.Mutex
	judged    bool // the program has been parsed, and judged
	findings  []Finding
	warnings  []Finding
	sites     []engine.Site // of calls in the source
	declared  []string
	calls     []*Call
	issued    map[*Call]tools.IssuedCall
	counted   int            // of the calls, those that count
	refused   int            // calls beyond the limit
	uncounted map[string]int // those that do not, by the path of the tool
	aborted   error          // why the host ended the program
	over      bool           // the run has ended; who settles now is late
	running   sync.WaitGroup
}

func newHost(ctx context.Context, limits Limits, p *Program, bound *boundTools) *host {
	h := &host{
		program: p, limits: limits, bindings: bound.bindings, discovery: bound.discovery,
		parent: ctx, start: time.Now(), closing: make(chan struct{}), dropped: make(chan struct{}),
	}
	var journal tools.Attempt
	if p.Attempt != nil {
		journal = watched{p.Attempt, h}
	}
	results := &results{each: limits.Result, all: limits.Results}
	h.dispatcher = bound.extended.WithPoliciesOf(p.Tools).With(results.policy).Dispatcher(journal)
	h.ctx, h.stop = context.WithCancelCause(ctx)
	return h
}

// watched is a journal whose refusal ends the program at once, before it makes
// another call.
type watched struct {
	tools.Attempt
	host *host
}

// Issue implements [tools.Attempt].
func (w watched) Issue(c tools.Call) (tools.Entry, error) {
	entry, err := w.Attempt.Issue(c)
	if err != nil {
		w.host.abort(err)
	}
	return entry, err
}

// errCallLimit ends a program that goes on to make calls though they are refused.
var errCallLimit = errors.New("too many tool calls")

// maxRefused is how many calls beyond the limit a program may make, each of which is
// refused, before it is ended.
const maxRefused = 1000

// mendable reports whether a rewritten program may do without what ended this
// one. Behind a fatal error there may be a hold, but of another run's.
func mendable(err error) bool {
	var hold *tools.HoldError
	return !tools.IsFatal(err) && (errors.Is(err, errCallLimit) || errors.As(err, &hold))
}

// Report implements [engine.Host].
func (h *host) Report(r engine.Report) (allowed func() bool) {
	h.mu.Lock()
	h.start = time.Now() // only now has the run a worker
	h.mu.Unlock()
	return func() bool {
		findings, warnings := h.judge(r), h.warn(r)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.judged, h.findings, h.warnings, h.sites, h.declared = true, findings, warnings, bounded(r.Sites), r.Declared
		return len(findings) == 0 && !h.checkOnly
	}
}

// Call implements [engine.Host].
func (h *host) Call(c engine.Call, reply func(engine.Reply)) (perform func()) {
	if te := h.exhausted(c.Tool); te != nil {
		return func() { reply(engine.Reply{Error: te}) }
	}
	c.Args = h.named(c.Tool, c.Args)
	record := h.record(c)
	if record == nil {
		return nil
	}
	issued := h.issue(c)
	h.mu.Lock()
	if record.Recorded = issued.Recorded; !issued.Recorded {
		h.charge(record.Tool)
	}
	if h.issued == nil {
		h.issued = map[*Call]tools.IssuedCall{}
	}
	h.issued[record] = issued
	h.mu.Unlock()
	return func() {
		defer h.running.Done()
		h.answer(record, issued, reply)
	}
}

// exhausted is the error of a call beyond the limit, nil for one within it. A program
// that goes on and on is ended.
func (h *host) exhausted(tool int) *engine.ToolError {
	h.mu.Lock()
	path := h.path(tool)
	if h.uncounted[path] < h.program.Uncounted[path] || h.counted < h.limits.Calls {
		h.mu.Unlock()
		return nil
	}
	h.refused++
	te := plain(&tools.ToolError{Tool: path, Kind: tools.KindLimit, Message: fmt.Sprintf(
		"this program has made the %d tool calls that it may make%s; the call was not made; look for a loop that does not end, or print what you have",
		h.limits.Calls, h.besides())})
	endless := h.refused > maxRefused
	h.mu.Unlock()
	if endless {
		h.abort(errCallLimit)
	}
	return te
}

// charge counts a call that the record does not answer.
func (h *host) charge(path string) {
	if h.uncounted[path] < h.program.Uncounted[path] {
		if h.uncounted == nil {
			h.uncounted = map[string]int{}
		}
		h.uncounted[path]++
		return
	}
	h.counted++
}

// record notes a call, if the program may still make one.
func (h *host) record(c engine.Call) *Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.aborted != nil || h.over {
		return nil
	}
	if h.callCtx == nil {
		h.callCtx, h.cancelCalls = context.WithCancelCause(h.parent)
		h.slots = make(chan struct{}, h.limits.Concurrency)
	}
	record := &Call{
		ID: c.ID, Tool: h.path(c.Tool), Args: c.Args, Pending: true,
		Started: time.Since(h.start), Line: c.Line, Column: c.Column,
	}
	h.calls = append(h.calls, record)
	h.running.Add(1)
	return record
}

func (h *host) issue(c engine.Call) tools.IssuedCall {
	repeat, err := parseRepeat(c.More)
	if err != nil {
		te := &tools.ToolError{Tool: h.path(c.Tool), Kind: tools.KindInvalidArguments, Message: err.Error()}
		return tools.Refused(te)
	}
	if te := h.misshapen(c); te != nil {
		return tools.Refused(te)
	}
	call := tools.Call{ID: c.ID, Args: c.Args, Repeat: repeat, Line: c.Line, Column: c.Column, Program: h.program.Source}
	return h.dispatcher.Issue(call, c.Tool)
}

// named is an argument as an object, if it stands for one: from here on policies,
// record and handler see nothing else.
func (h *host) named(tool int, args json.RawMessage) json.RawMessage {
	if tool < 0 || tool >= len(h.bindings) {
		return args
	}
	return h.bindings[tool].Named(args)
}

// misshapen is the error of a call whose argument is no object.
func (h *host) misshapen(c engine.Call) *tools.ToolError {
	if c.Tool < 0 || c.Tool >= len(h.bindings) || bytes.HasPrefix(c.Args, []byte("{")) {
		return nil
	}
	b := h.bindings[c.Tool]
	return &tools.ToolError{
		Tool: b.Path(), Kind: tools.KindInvalidArguments,
		Message: fmt.Sprintf("a tool takes one object, not %s; %s", shape(c.Args), declared(b)),
	}
}

// answer performs a call and hands its result to the program.
func (h *host) answer(record *Call, issued tools.IssuedCall, reply func(engine.Reply)) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-h.dropped: // Perform will say so, and do nothing
	}
	returned := false
	defer func() {
		if !returned { // by runtime.Goexit, which t.FailNow calls, too
			h.abort(fmt.Errorf("the handler of %s ended its goroutine instead of returning", record.Tool))
		}
	}()
	h.begun(record)
	result, err := issued.Perform(h.callCtx)
	returned = true
	te, catchable := thrown(err, record.Tool)
	h.settle(record, issued.Args(), result, te)
	switch {
	case tools.IsFatal(err) && h.callCtx.Err() == nil: // also if the program has ended
		h.abort(fmt.Errorf("tool %s: %w", record.Tool, err))
	case h.ended(): // the program learns nothing more
	case err == nil:
		reply(engine.Reply{Value: result})
	case catchable:
		reply(engine.Reply{Error: plain(te)})
	default:
		h.abort(err)
	}
}

// plain is an error as the program gets it. Texts are valid UTF-8, for a session's
// record can hold nothing else.
func plain(e *tools.ToolError) *engine.ToolError {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
	return &engine.ToolError{Tool: valid(e.Tool), Kind: valid(e.Kind), Message: valid(e.Message), Data: e.Data}
}

// thrown is how the record shows an error, and whether the program may catch it.
func thrown(err error, tool string) (te *tools.ToolError, catchable bool) {
	var hold *tools.HoldError
	switch {
	case err == nil:
		return nil, false
	case !tools.IsFatal(err) && errors.As(err, &te):
		return te, true
	case errors.As(err, &hold):
		return (&tools.ToolError{Tool: tool, Kind: tools.KindDenied, Message: hold.Error()}).WithCause(err), false
	default:
		return (&tools.ToolError{Tool: tool, Kind: tools.KindUnknown, Message: err.Error()}).WithCause(err), false
	}
}

func (h *host) settle(record *Call, performed, result json.RawMessage, err *tools.ToolError) {
	h.mu.Lock()
	record.Result, record.Error, record.Pending = result, err, false
	if performed != nil {
		record.Args = performed
	}
	record.Duration = time.Since(h.start) - record.Started
	ended, over := *record, h.over
	h.mu.Unlock()
	if h.program.OnCall != nil && !over {
		h.tell("Program.OnCall", h.program.OnCall, ended)
	}
}

// begun tells that a call is about to be made.
func (h *host) begun(record *Call) {
	if h.program.OnCalling == nil {
		return
	}
	h.mu.Lock()
	begun, over := *record, h.over
	h.mu.Unlock()
	if !over {
		h.tell("Program.OnCalling", h.program.OnCalling, begun)
	}
}

// tell calls who listens. A panic of his ends the run, not the process.
func (h *host) tell(name string, listener func(Call), c Call) {
	defer func() {
		if p := recover(); p != nil {
			h.abort(fmt.Errorf("%s panicked: %v\n%s", name, p, debug.Stack()))
		}
	}()
	listener(c)
}

func (h *host) path(tool int) string {
	if tool < 0 || tool >= len(h.bindings) {
		return ""
	}
	return h.bindings[tool].Path()
}

// maxNames is how many calls a second argument may name.
const maxNames = 1000

// parseRepeat reads the second argument of a call.
func parseRepeat(more json.RawMessage) (*tools.Repeat, error) {
	if more == nil {
		return nil, nil
	}
	var r tools.Repeat
	d := json.NewDecoder(bytes.NewReader(more))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, errors.New(`the second argument of a tool only answers a call that was held, as {same: "E7"}, ` +
			`{again: "E2"}, {distinct: "all"} or {fresh: true}; everything else goes into the first argument`)
	}
	if len(r.Again)+len(r.Distinct) > maxNames {
		return nil, fmt.Errorf("the second argument names more than %d calls", maxNames)
	}
	if r.Same == "" && len(r.Again)+len(r.Distinct) == 0 && !r.Fresh {
		return nil, nil
	}
	return &r, nil
}
