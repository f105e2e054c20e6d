package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// stuckAfter is how long a program may take to react to being stopped. Longer
// takes only one in a native function, which goja cannot interrupt.
const stuckAfter = 100 * time.Millisecond

// Why a program is stopped.
var (
	errEnded   = errors.New("the program has ended") // by submit: its result is known
	errTime    = errors.New("time is over")
	errCompute = errors.New("it computed for too long")
	errWait    = errors.New("it waited for too long")

	// ErrMemory, as the cause of a context, says that memory has run short.
	ErrMemory = errors.New("out of memory")
)

// watch keeps a run within its limits of time and its caller's context. Waiting
// is what the loop does when it has nothing to do; everything else is computing.
type watch struct {
	vm     *goja.Runtime
	limits Limits
	stuck  Stucker       // is told if the program does not react; may be nil
	over   chan struct{} // closed when the run is to end
	unbind func() bool   // from the context

	mu      sync.Mutex
	timer   *time.Timer
	start   time.Time
	since   time.Time // when the loop began to wait; zero while it computes
	waited  time.Duration
	cause   error // of the first stop
	stopped bool  // the run has ended
}

func newWatch(ctx context.Context, vm *goja.Runtime, l Limits, stuck Stucker) *watch {
	w := &watch{vm: vm, limits: l, stuck: stuck, over: make(chan struct{}), start: time.Now()}
	if left := w.left(0, 0); left > 0 {
		w.mu.Lock() // the timer may be faster than its assignment
		w.timer = time.AfterFunc(left, w.check)
		w.mu.Unlock()
	}
	if ctx.Done() != nil {
		w.unbind = context.AfterFunc(ctx, func() { w.stop(context.Cause(ctx)) })
	}
	return w
}

// left is for how long no limit can be exceeded; zero if there is none.
func (w *watch) left(elapsed, waited time.Duration) time.Duration {
	var least time.Duration
	for _, budget := range []struct{ limit, spent time.Duration }{
		{w.limits.Time, elapsed}, {w.limits.Compute, elapsed - waited}, {w.limits.Wait, waited},
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
func (w *watch) check() {
	w.mu.Lock()
	elapsed, waited := w.spent()
	var cause error
	switch l := w.limits; {
	case l.Time > 0 && elapsed >= l.Time:
		cause = errTime
	case l.Compute > 0 && elapsed-waited >= l.Compute:
		cause = errCompute
	case l.Wait > 0 && waited >= l.Wait:
		cause = errWait
	case !w.stopped:
		w.timer.Reset(w.left(elapsed, waited))
	}
	w.mu.Unlock()
	if cause != nil {
		w.stop(cause)
	}
}

// spent is how long the run has taken, and how much of it it has waited.
func (w *watch) spent() (elapsed, waited time.Duration) {
	elapsed, waited = time.Since(w.start), w.waited
	if !w.since.IsZero() {
		waited += time.Since(w.since)
	}
	return elapsed, waited
}

// stop ends the program, from any goroutine.
func (w *watch) stop(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.cause != nil {
		return
	}
	w.cause = cause
	w.vm.Interrupt(cause)
	close(w.over)
	if w.stuck != nil {
		time.AfterFunc(stuckAfter, w.report)
	}
}

// report says that the program has not ended.
func (w *watch) report() {
	w.mu.Lock()
	stopped, cause := w.stopped, w.cause
	w.mu.Unlock()
	if !stopped {
		w.stuck.Stuck(w.failure(cause))
	}
}

// waits is called when the loop begins to wait, and when it has done so.
func (w *watch) waits(yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if yes {
		w.since = time.Now()
		return
	}
	w.waited += time.Since(w.since)
	w.since = time.Time{}
}

func (w *watch) isOver() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

// end says that no guest code runs any more, and what the run took.
func (w *watch) end() (elapsed, waited time.Duration) {
	if w.unbind != nil {
		w.unbind()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped = true; w.timer != nil {
		w.timer.Stop()
	}
	return w.spent()
}

// failure says why a program was stopped.
func (w *watch) failure(cause error) *Failure {
	switch l := w.limits; {
	case errors.Is(cause, errTime):
		return &Failure{Kind: Timeout, Message: fmt.Sprintf("the program did not end within %v", l.Time)}
	case errors.Is(cause, errCompute):
		return &Failure{
			Kind: ComputeLimit, Message: fmt.Sprintf("the program computed for more than %v", l.Compute),
			Hint: "look for loops without end and for work that is quadratic or worse",
		}
	case errors.Is(cause, errWait):
		return &Failure{
			Kind: WaitLimit, Message: fmt.Sprintf("the program waited for tools and timers for more than %v", l.Wait),
			Hint: "make calls that do not depend on each other at the same time, by Promise.all",
		}
	case errors.Is(cause, ErrMemory):
		return outOfMemory()
	}
	return &Failure{Kind: Stopped, Message: "the program was stopped"}
}

func outOfMemory() *Failure {
	return &Failure{
		Kind: Memory, Message: "the program ran out of memory",
		Hint: "keep less at once: process in parts, and don't build huge strings or arrays",
	}
}
