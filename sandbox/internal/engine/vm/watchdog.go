package vm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Reasons for stopping a program.
var (
	errEnded   = errors.New("the program has ended") // submit was called: the result is known
	errTime    = errors.New("time is over")
	errCompute = errors.New("it computed for too long")
	errWait    = errors.New("it waited for too long")
)

// watchdog stops a run that exceeds a time limit or whose context is cancelled. The run
// waits while its event loop is idle; otherwise it computes, as long as it has a processor:
// on a busy machine, time in which a program is not scheduled does not count.
type watchdog struct {
	vm     *goja.Runtime
	limits engine.Limits
	stuck  engine.Supervisor // may be nil
	over   chan struct{}     // closed when the run must end
	unbind func() bool       // from the context

	mu       sync.Mutex
	timer    *time.Timer
	patience *time.Timer // runs after the program was stopped; nil before
	step     int         // of patience
	start    time.Time
	cpu      time.Duration // processor time at the start
	since    time.Time     // when the loop began to wait; zero while the program computes
	waited   time.Duration
	cause    error // of the first stop
	stopped  bool  // the run has ended
}

func newWatchdog(ctx context.Context, vm *goja.Runtime, l engine.Limits, stuck engine.Supervisor) *watchdog {
	w := &watchdog{vm: vm, limits: l, stuck: stuck, over: make(chan struct{}), start: time.Now(), cpu: cpuTime()}
	if left := left(l, spent{}); left > 0 {
		w.mu.Lock() // the timer may fire before it is assigned
		w.timer = time.AfterFunc(left, w.check)
		w.mu.Unlock()
	}
	if ctx.Done() != nil {
		w.unbind = context.AfterFunc(ctx, func() { w.stop(context.Cause(ctx)) })
	}
	return w
}

// spent is the time that a run has taken. computed is less than elapsed minus waited if the
// machine was busy.
type spent struct{ elapsed, computed, waited time.Duration }

// left returns the time in which no limit can be exceeded, or zero if there is no limit.
func left(l engine.Limits, s spent) time.Duration {
	var least time.Duration
	for _, budget := range []struct{ limit, spent time.Duration }{
		{l.Time, s.elapsed}, {l.Compute, s.computed}, {l.Wait, s.waited},
	} {
		if budget.limit <= 0 {
			continue
		}
		if rest := max(budget.limit-budget.spent, 1); least == 0 || rest < least {
			least = rest
		}
	}
	return least
}

// check is called by the timer when a limit may have been exceeded.
func (w *watchdog) check() {
	w.mu.Lock()
	s := w.spent()
	var cause error
	switch l := w.limits; {
	case l.Time > 0 && s.elapsed >= l.Time:
		cause = errTime
	case l.Compute > 0 && s.computed >= l.Compute:
		cause = errCompute
	case l.Wait > 0 && s.waited >= l.Wait:
		cause = errWait
	case !w.stopped:
		w.timer.Reset(left(l, s))
	}
	w.mu.Unlock()
	if cause != nil {
		w.stop(cause)
	}
}

func (w *watchdog) spent() spent {
	s := spent{elapsed: time.Since(w.start), waited: w.waited}
	if !w.since.IsZero() {
		s.waited += time.Since(w.since)
	}
	if s.computed = s.elapsed - s.waited; s.computed > negligible {
		s.computed = min(s.computed, cpuTime()-w.cpu)
	}
	return s
}

// negligible is the time up to which it does not matter whether a program had a processor.
// Reading the processor time is a system call.
const negligible = time.Millisecond

// stop ends the program, from any goroutine.
func (w *watchdog) stop(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.cause != nil {
		return
	}
	w.cause = cause
	w.vm.Interrupt(cause)
	close(w.over)
	if w.stuck != nil {
		w.patience = time.AfterFunc(w.stuck.Patience()/patienceSteps, w.report)
	}
}

// patienceSteps is the number of steps in which patience runs out. If the whole machine is
// suspended, that costs only one step.
const patienceSteps = 10

// report tells the host when the program is still running after its patience.
func (w *watchdog) report() {
	w.mu.Lock()
	stopped, cause := w.stopped, w.cause
	w.step++
	again := !stopped && w.step < patienceSteps
	if again {
		w.patience.Reset(w.stuck.Patience() / patienceSteps)
	}
	w.mu.Unlock()
	if !stopped && !again {
		w.stuck.Stuck(w.failure(cause))
	}
}

// waits is called with true when the loop begins to wait, and with false afterwards.
func (w *watchdog) waits(yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if yes {
		w.since = time.Now()
		return
	}
	w.waited += time.Since(w.since)
	w.since = time.Time{}
}

// end stops the watchdog after the program has ended, and returns the time spent.
func (w *watchdog) end() spent {
	if w.unbind != nil {
		w.unbind()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped = true; w.timer != nil {
		w.timer.Stop()
	}
	if w.patience != nil {
		w.patience.Stop()
	}
	w.vm = nil // stopped timers stay reachable for a while and would keep the VM in memory
	return w.spent()
}

// failure returns the failure for the cause of a stop.
func (w *watchdog) failure(cause error) *engine.Failure {
	switch l := w.limits; {
	case errors.Is(cause, errTime):
		return &engine.Failure{Kind: engine.KindTimeout, Message: fmt.Sprintf("the program did not end within %v", l.Time)}
	case errors.Is(cause, errCompute):
		return &engine.Failure{
			Kind: engine.KindComputeLimit, Message: fmt.Sprintf("the program computed for more than %v", l.Compute),
			Hint: "look for endless loops and for quadratic work",
		}
	case errors.Is(cause, errWait):
		return &engine.Failure{
			Kind: engine.KindWaitLimit, Message: fmt.Sprintf("the program waited for tools and timers for more than %v", l.Wait),
			Hint: "make independent calls at the same time, with Promise.all",
		}
	case errors.Is(cause, engine.ErrMemory):
		return outOfMemory()
	}
	return &engine.Failure{Kind: engine.KindStopped, Message: "the program was stopped"}
}

func outOfMemory() *engine.Failure {
	return &engine.Failure{
		Kind: engine.KindMemory, Message: "the program ran out of memory",
		Hint: "keep less data at once: process it in parts, and do not build huge strings or arrays",
	}
}
