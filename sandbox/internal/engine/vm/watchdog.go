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

// Why a program is stopped.
var (
	errEnded   = errors.New("the program has ended") // by submit: its result is known
	errTime    = errors.New("time is over")
	errCompute = errors.New("it computed for too long")
	errWait    = errors.New("it waited for too long")
)

// watch keeps a run within its limits of time and its caller's context. Waiting
// is what the loop does when it has nothing to do; everything else is computing,
// for as long as the processor is there: on a busy machine a program that waits for
// its turn does not compute.
type watchdog struct {
	vm     *goja.Runtime
	limits engine.Limits
	stuck  engine.Stucker // is told if the program does not react; may be nil
	over   chan struct{}  // closed when the run is to end
	unbind func() bool    // from the context

	mu       sync.Mutex
	timer    *time.Timer
	patience *time.Timer // with a program that was stopped; nil before
	step     int         // of patience
	start    time.Time
	cpu      time.Duration // processor's, at the start
	since    time.Time     // when the loop began to wait; zero while it computes
	waited   time.Duration
	cause    error // of the first stop
	stopped  bool  // the run has ended
}

func newWatchdog(ctx context.Context, vm *goja.Runtime, l engine.Limits, stuck engine.Stucker) *watchdog {
	w := &watchdog{vm: vm, limits: l, stuck: stuck, over: make(chan struct{}), start: time.Now(), cpu: cpuTime()}
	if left := left(l, spent{}); left > 0 {
		w.mu.Lock() // the timer may be faster than its assignment
		w.timer = time.AfterFunc(left, w.check)
		w.mu.Unlock()
	}
	if ctx.Done() != nil {
		w.unbind = context.AfterFunc(ctx, func() { w.stop(context.Cause(ctx)) })
	}
	return w
}

// spent is the time that a run has taken, and what it consists of; computed is less
// than the rest where the machine was busy with something else.
type spent struct{ elapsed, computed, waited time.Duration }

// left is for how long no limit can be exceeded; zero if there is none.
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

// check is the timer's. It fires when a limit may have been exceeded.
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
	s.computed = min(s.elapsed-s.waited, cpuTime()-w.cpu)
	return s
}

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

// patienceSteps are the steps in which patience comes to its end: a machine that stands
// still for so long, and the program with it, takes one of them.
const patienceSteps = 10

// report says that the program has not ended, when patience has.
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

// waits is called when the loop begins to wait, and when it has done so.
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

// end says that no guest code runs any more, and what the run took.
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
	w.vm = nil // the runtime keeps stopped timers for a while, and they would keep what the program has in memory
	return w.spent()
}

// failure says why a program was stopped.
func (w *watchdog) failure(cause error) *engine.Failure {
	switch l := w.limits; {
	case errors.Is(cause, errTime):
		return &engine.Failure{Kind: engine.Timeout, Message: fmt.Sprintf("the program did not end within %v", l.Time)}
	case errors.Is(cause, errCompute):
		return &engine.Failure{
			Kind: engine.ComputeLimit, Message: fmt.Sprintf("the program computed for more than %v", l.Compute),
			Hint: "look for endless loops and for quadratic work",
		}
	case errors.Is(cause, errWait):
		return &engine.Failure{
			Kind: engine.WaitLimit, Message: fmt.Sprintf("the program waited for tools and timers for more than %v", l.Wait),
			Hint: "make independent calls at the same time, with Promise.all",
		}
	case errors.Is(cause, engine.ErrMemory):
		return outOfMemory()
	}
	return &engine.Failure{Kind: engine.Stopped, Message: "the program was stopped"}
}

func outOfMemory() *engine.Failure {
	return &engine.Failure{
		Kind: engine.Memory, Message: "the program ran out of memory",
		Hint: "keep less at once: process in parts, and don't build huge strings or arrays",
	}
}
