package vm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Reasons for stopping a program.
var (
	errEnded   = errors.New("the program has ended") // it already has a result, for example from submit
	errTime    = errors.New("time is over")
	errCompute = errors.New("it computed for too long")
)

// watchdog stops a run that exceeds a time limit or whose context is canceled. The run waits while its event loop is
// idle, and computes otherwise. On a busy machine, time in which the program does not get a processor does not count as
// CPU time.
type watchdog struct {
	vm     *goja.Runtime
	limits engine.Limits
	host   engine.Supervisor // may be nil
	over   chan struct{}     // closed when the program is stopped
	unbind func() bool       // removes the watchdog from the context

	mu       sync.Mutex
	timer    *time.Timer
	patience *time.Timer // runs once the program has been stopped; nil before that
	step     int         // number of steps of patience that have passed; see patienceSteps
	start    time.Time
	cpu      time.Duration // processor time at the start
	since    time.Time     // when the last counted wait ended; zero while the program computes
	waited   time.Duration
	stood    time.Duration // time in which the clocks stood still; it counts towards no limit
	still    bool          // the clocks stand still while the program does nothing but wait for calls
	quiet    bool          // the program now does nothing but wait for calls
	replies  int           // replies that the program has received
	idle     *time.Timer   // calls announce when the program has waited for idleTime
	next     int           // announce does nothing if the program has received fewer replies
	cause    error         // the cause of the first stop
	stopped  bool          // the run has ended
}

func newWatchdog(ctx context.Context, vm *goja.Runtime, l engine.Limits, host engine.Supervisor) *watchdog {
	w := &watchdog{vm: vm, limits: l, host: host, over: make(chan struct{}), start: time.Now(), cpu: cpuTime()}
	w.mu.Lock() // the timer may fire before it is assigned
	w.timer = time.AfterFunc(left(l, spent{}), w.check)
	w.mu.Unlock()
	if ctx.Done() != nil {
		w.unbind = context.AfterFunc(ctx, func() { w.stop(context.Cause(ctx)) })
	}
	return w
}

// spent is the time that a run has taken. On a busy machine, computed is less than elapsed minus waited.
type spent struct{ elapsed, computed, waited time.Duration }

// left returns the time until the first limit can be exceeded.
func left(l engine.Limits, s spent) time.Duration {
	rest := func(limit, spent time.Duration) time.Duration {
		if limit <= 0 { // no limit
			return math.MaxInt64
		}
		return max(limit-spent, 1)
	}
	return min(rest(l.Time, s.elapsed), rest(l.Compute, s.computed))
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
	case !w.stopped && !w.stands():
		w.timer.Reset(left(l, s))
	}
	w.mu.Unlock()
	if cause != nil {
		w.stop(cause)
	}
}

func (w *watchdog) spent() spent {
	w.count()
	s := spent{elapsed: time.Since(w.start) - w.stood, waited: w.waited}
	if s.computed = s.elapsed - s.waited; s.computed > negligible {
		s.computed = min(s.computed, cpuTime()-w.cpu)
	}
	return s
}

// negligible is the time up to which the CPU time is not read, because reading it is a system call.
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
	if w.host != nil {
		w.patience = time.AfterFunc(w.host.Patience()/patienceSteps, w.report)
	}
}

// patienceSteps is the number of steps into which the patience is divided. A suspension of the whole machine
// uses up only one step.
const patienceSteps = 10

// report counts a step of patience. After the last step, it reports to the host that the program is stuck.
func (w *watchdog) report() {
	w.mu.Lock()
	stopped, cause := w.stopped, w.cause
	w.step++
	again := !stopped && w.step < patienceSteps
	if again {
		w.patience.Reset(w.host.Patience() / patienceSteps)
	}
	w.mu.Unlock()
	if !stopped && !again {
		w.host.Stuck(w.failure(cause))
	}
}

// stands reports whether the clocks stand still.
func (w *watchdog) stands() bool { return w.still && w.quiet && !w.since.IsZero() }

// count adds the time since the event loop began to wait.
func (w *watchdog) count() {
	if w.since.IsZero() {
		return
	}
	d := time.Since(w.since)
	if w.since = w.since.Add(d); w.stands() {
		w.stood += d
	} else {
		w.waited += d
	}
}

// SetStill implements [engine.RunClock].
func (w *watchdog) SetStill(still bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count()
	w.still = still
	w.schedule()
}

// schedule makes the timer fire when the next limit may have been exceeded.
func (w *watchdog) schedule() {
	if !w.stopped && !w.stands() {
		w.timer.Reset(left(w.limits, w.spent()))
	}
}

// idleTime is how long a program must wait before the watchdog notifies the host.
const idleTime = 10 * time.Millisecond

// wait is called when the event loop begins to wait. quiet means that no timer is pending. replies is the number of
// replies that the program has received.
func (w *watchdog) wait(quiet bool, replies int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.quiet, w.replies = time.Now(), quiet, replies
	switch {
	case !quiet || w.host == nil:
	case w.idle == nil:
		w.idle = time.AfterFunc(idleTime, w.announce)
	default:
		w.idle.Reset(idleTime)
	}
}

// announce notifies the host that the program waits.
func (w *watchdog) announce() {
	w.mu.Lock()
	defer w.mu.Unlock()
	current := w.replies >= w.next // otherwise, the timer belongs to an earlier wait
	if !w.stopped && w.quiet && !w.since.IsZero() && current {
		w.next = w.replies + 1
		w.host.Waiting(w.replies)
	}
}

// resume is called when the event loop has an event for the program.
func (w *watchdog) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count()
	if w.since = (time.Time{}); w.idle != nil {
		w.idle.Stop()
	}
	if w.still { // the timer has not been running
		w.schedule()
	}
}

// end stops the watchdog after the program has ended, and returns the time spent.
func (w *watchdog) end() spent {
	if w.unbind != nil {
		w.unbind()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	for _, t := range []*time.Timer{w.timer, w.patience, w.idle} {
		if t != nil {
			t.Stop()
		}
	}
	w.vm = nil // stopped timers stay reachable for a while and would keep the VM in memory
	return w.spent()
}

// failure returns the failure of a program that was stopped for the given cause.
func (w *watchdog) failure(cause error) *engine.Failure {
	switch l := w.limits; {
	case errors.Is(cause, errTime):
		return &engine.Failure{
			Kind: engine.KindTimeout, Message: fmt.Sprintf("the program did not end within %v", l.Time),
		}
	case errors.Is(cause, errCompute):
		return &engine.Failure{
			Kind: engine.KindComputeLimit, Message: fmt.Sprintf("the program computed for more than %v", l.Compute),
			Hint: "look for endless loops and for quadratic work",
		}
	case errors.Is(cause, engine.ErrMemory):
		return engine.OutOfMemory()
	}
	return engine.Stopped()
}
