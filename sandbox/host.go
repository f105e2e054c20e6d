package sandbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/sandbox/internal/engine"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
	"github.com/writ-go/writ/tools"
)

// host is the caller's side of one run: it judges the worker's report and performs the
// tool calls. It implements [engine.Host].
type host struct {
	ctx         context.Context // canceled when the program must end
	stop        context.CancelCauseFunc
	callCtx     context.Context // the calls' context, which may outlive the program
	cancelCalls context.CancelCauseFunc

	program    *Program
	step       *sessionStep // nil outside of sessions
	origin     *origin      // translates the positions of a compiled program; nil for JavaScript
	limits     Limits
	rules      *Rules // nil if every program is allowed
	checkOnly  bool
	bindings   []*tools.Binding
	plain      []engine.Binding // the bindings as the engine sees them
	dispatcher *dispatch.Dispatcher
	recorder   dispatch.Recorder // nil if the program's turns are not recorded
	outer      *tracker          // the call that started the run, or nil
	ticket     *workers.Ticket
	slots      chan struct{} // has an element for each call that is being performed; nil before the first call
	goroutines goroutines    // perform the calls
	ending     sync.Once
	ended      chan struct{} // closed when the program has ended and gets no more replies
	start      time.Time
	report     engine.Report

	mu        sync.Mutex
	judged    bool // the program has been parsed and judged
	findings  []Finding
	warnings  []Finding
	declared  []string
	acts      bool
	calls     []*tracker
	counted   int            // calls that count towards the limit
	refused   int            // calls beyond the limit
	uncounted map[string]int // calls that do not count, by tool path
	aborted   error          // the reason why the host ended the program, or nil
	over      bool           // the run has ended; results from handlers that return now are ignored
	running   sync.WaitGroup
	clock     engine.RunClock
	open      int  // calls in progress
	paused    int  // calls that wait for a person or a nested run
	parked    int  // calls that wait only for what may take longer than the process lives
	replied   int  // replies that the program has been sent
	idle      int  // the last number of replies after which the program only waited for calls; -1 before that
	resting   bool // nothing but parked calls is in progress
}

func newHost(ctx context.Context, limits Limits, p *Program, bound *boundTools) *host {
	h := &host{
		program: p, limits: limits, bindings: bound.bindings, plain: bound.plain,
		start: time.Now(), ended: make(chan struct{}), goroutines: newGoroutines(), idle: -1,
	}
	h.outer, _ = place.Find[*tracker](ctx)
	h.ticket = newTicket(ctx, h.outer)
	var attempt dispatch.Attempt
	if p.Attempt != nil {
		attempt = abortingAttempt{p.Attempt, h}
	}
	results := &resultLimiter{each: limits.Result, all: limits.Results}
	h.dispatcher = dispatch.New(p.Tools.With(results.policy), attempt)
	h.callCtx, h.cancelCalls = context.WithCancelCause(ctx)
	h.ctx, h.stop = context.WithCancelCause(h.callCtx)
	return h
}

// abortingAttempt aborts the program when the journal rejects a call.
type abortingAttempt struct {
	dispatch.Attempt
	host *host
}

// Issue implements [dispatch.Attempt].
func (a abortingAttempt) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	entry, err := a.Attempt.Issue(c, all)
	if err != nil {
		a.host.abort(err)
	}
	return entry, err
}

// Report implements [engine.Host].
func (h *host) Report(r engine.Report) {
	h.origin.report(&r)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.start, h.report = time.Now(), r // the start of the run: it waited for a worker until now
}

// Allowed implements [engine.Host].
func (h *host) Allowed() bool {
	findings, warnings := h.judge(h.report), h.warn(h.report)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.judged, h.findings, h.warnings = true, findings, warnings
	h.declared, h.acts = h.report.Declared, h.report.Acts
	return len(findings) == 0 && !h.checkOnly
}

// errCallLimit ends a program that keeps making rejected calls.
var errCallLimit = errors.New("too many tool calls")

// isProgramError reports whether a rewritten program may avoid the error that ended the current program. A hold within
// a fatal error does not count, because it belongs to another run.
func isProgramError(err error) bool {
	var hold *tools.HoldError
	return !tools.IsFatal(err) && (errors.Is(err, errCallLimit) || errors.As(err, &hold))
}

// abort ends the program, which cannot catch the error.
func (h *host) abort(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.abortLocked(err)
}

func (h *host) abortLocked(err error) {
	if h.aborted == nil || isProgramError(h.aborted) && !isProgramError(err) {
		h.aborted = err
	}
	if isProgramError(err) {
		h.stop(err)
	} else {
		h.cancelCalls(err)
	}
	h.drop()
}

// drop rejects the calls that have not reached their tools, so that no further tool is called and no approver is
// asked.
func (h *host) drop() {
	h.ending.Do(func() {
		close(h.ended)
		h.dispatcher.End()
		close(h.goroutines.done) // no further call can reach its tool
	})
}

// hasEnded reports whether the program has ended or is being stopped.
func (h *host) hasEnded() bool {
	select {
	case <-h.ended:
		return true
	default:
		return h.callCtx.Err() != nil
	}
}

// settleTime is how long handlers may take to return after they were canceled.
const settleTime = 200 * time.Millisecond

// end ends the calls in progress. If the program ended by itself, or failed with an error that a rewritten
// program may avoid, end first waits until the calls return or Limits.Time has passed, so that their effects
// are known. Then it cancels the remaining calls and waits for at most settleTime.
func (h *host) end(r *engine.Result) {
	h.drop()
	h.mu.Lock()
	aborted, calls := h.aborted, len(h.calls)
	h.over = calls == 0
	h.mu.Unlock()
	if calls == 0 {
		return
	}
	settled := make(chan struct{})
	go func() {
		h.running.Wait()
		close(settled)
	}()
	if aborted != nil && isProgramError(aborted) || aborted == nil && h.ctx.Err() == nil && endedByItself(r) {
		wait(settled, h.limits.Time-r.Computed-r.Waited)
	}
	h.cancelCalls(context.Canceled)
	wait(settled, settleTime)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.rest()
}

// endedByItself reports whether no limit ended the program.
func endedByItself(r *engine.Result) bool {
	if r == nil {
		return false
	}
	if r.Failure == nil {
		return true
	}
	switch r.Failure.Kind {
	case engine.KindThrown, engine.KindUnawaited, engine.KindDeadlock, engine.KindBadValue, engine.KindTooLarge:
		return true
	}
	return false
}

// wait waits until a channel is closed, but not much longer than limit. It waits in steps, so that a pause of
// the whole machine, during which handlers cannot run either, counts as one step.
func wait(closed <-chan struct{}, limit time.Duration) {
	const steps = 10
	for range steps {
		select {
		case <-closed:
			return
		case <-time.After(limit / steps):
		}
	}
}

// path returns the path of the tool with the given index.
func (h *host) path(tool int) string {
	if tool < 0 || tool >= len(h.bindings) {
		return ""
	}
	return h.bindings[tool].Path()
}
