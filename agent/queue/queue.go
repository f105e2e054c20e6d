// Package queue bounds how much work runs at once, and is fair between the principals for which it runs. Code mode runs
// the calls of its clients in a [Queue], and an agent.Runner its runs.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/place"
	"go.opentelemetry.io/otel/metric"
)

// ErrBusy is returned by [Queue.Do] when a call cannot wait for its turn any longer. The call
// has not begun. Return it to the client as a result, so that the model can read it.
var ErrBusy = errors.New("busy: nothing was done; try again in a few seconds")

// Options are the limits of a [Queue]. Zero means the default.
type Options struct {
	// Running is the maximum number of calls that run at once. Zero means twice the number
	// of processors.
	Running int

	// PerPrincipal is the maximum number of one principal's calls that run at once. Zero means Running. In addition, at
	// most 128 of a principal's calls may be in progress, including those whose programs wait for tools.
	PerPrincipal int

	// Waiting is the maximum number of waiting calls. If there are more, the queue rejects the newest call of the
	// principal with the most waiting calls. Zero means 256; with a negative number, no call waits.
	Waiting int

	// Wait is the longest time that a call waits. Zero means 30 seconds.
	Wait time.Duration

	// MeterProvider creates the queue's OpenTelemetry metrics, which docs/telemetry.md lists. Nil means no metrics.
	MeterProvider metric.MeterProvider
}

// Queue bounds how many calls run at once, and is fair between principals: as long as
// several principals have waiting calls, they take turns, regardless of how many calls each
// of them has. A call that runs a program in a sandbox gives up its place while the program
// only waits for its tools. A Queue is safe for concurrent use.
type Queue struct {
	name   string // in the metrics
	limits Options
	stop   context.Context // its end cancels the running calls
	end    context.CancelFunc
	closed context.Context // canceled before stop; no call begins after that
	close  context.CancelFunc
	calls  sync.WaitGroup // of calls that run or wait for their turn

	mu      sync.Mutex
	lines   []*line // in the order of their turns, without empty lines
	waiting int
	patient int // how many of the waiting calls are from Go
	running int
	each    map[string]int // running calls by principal
	begun   map[string]int // running and paused calls by principal

	others []*Queue // made by AddQueue
	meter  *meter
}

// line holds the waiting calls of one principal.
type line struct {
	who     string
	waiters []*waiter // the oldest call first
}

// waiter is one waiting call.
type waiter struct {
	turn  chan struct{} // closed when the call may run; nil for a call from Go
	lost  chan struct{} // closed when the queue rejects the call; nil for a call from Go
	begin func()        // called when the call may run
	begun bool
}

// New returns a queue. Nil options are the defaults.
func New(o *Options) *Queue {
	if o == nil {
		o = &Options{}
	}
	return newQueue("executions", *o, newMeter(o.MeterProvider))
}

func newQueue(name string, l Options, meter *meter) *Queue {
	l.Running = cmp.Or(l.Running, 2*runtime.GOMAXPROCS(0))
	l.PerPrincipal = min(cmp.Or(l.PerPrincipal, l.Running), l.Running)
	l.Waiting = max(0, cmp.Or(l.Waiting, 256))
	l.Wait = cmp.Or(l.Wait, 30*time.Second)
	q := &Queue{name: name, limits: l, each: map[string]int{}, begun: map[string]int{}, meter: meter}
	q.stop, q.end = context.WithCancel(context.Background())
	q.closed, q.close = context.WithCancel(q.stop)
	meter.watch(q)
	return q
}

// ErrStopped is the cause with which running calls are canceled when the grace period of a shutdown is over or their
// [Queue] stops. Calls that still wait in the Queue, or arrive later, get an error that wraps ErrStopped and says that
// nothing was done.
var ErrStopped = errors.New("the server is shutting down")

// Do waits for the turn of the principal named who, runs f, and returns its error. If f does not run, the error is
// [ErrBusy] (the queue is full, or the wait was too long), the cause of ctx, or an error that wraps [ErrStopped]. If
// ctx is done while f runs, f's context is done as well, but Do still waits for f.
func (q *Queue) Do(ctx context.Context, who string, f func(context.Context) error) error {
	begin := time.Now()
	closed := q.closed
	if _, inside := place.Find[*call](ctx); inside { // a call that has begun may make further calls
		closed = q.stop
	}
	if q.isOpen(closed) {
		defer q.calls.Done()
	}
	if err := q.enter(ctx, closed, who); err != nil {
		q.meter.ended(ctx, q.name, begin, time.Time{}, err)
		return err
	}
	return q.run(ctx, who, begin, f)
}

// run runs a call whose turn has come.
func (q *Queue) run(ctx context.Context, who string, begin time.Time, f func(context.Context) error) error {
	ctx, done := until(ctx, q.stop)
	defer done()
	c := &call{queue: q, who: who}
	started := time.Now()
	err := errPanicked
	defer func() {
		q.meter.ended(ctx, q.name, begin, started, err)
		c.end()
	}()
	err = f(place.With(ctx, c))
	return err
}

// isOpen reports whether calls may begin. If they may, it adds one to q.calls.
func (q *Queue) isOpen(closed context.Context) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if closed.Err() != nil {
		return false
	}
	q.calls.Add(1)
	return true
}

// until returns a context that is also canceled, with the cause [ErrStopped], when stop is done, and a function that
// releases its resources.
func until(ctx, stop context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unlink := context.AfterFunc(stop, func() { cancel(ErrStopped) })
	return ctx, func() {
		unlink()
		cancel(nil)
	}
}

type stopKey struct{}

// WithStop returns a context that is also canceled, with the cause [ErrStopped], when stop is done, and a function that
// releases its resources. From that moment on, no call with this context begins.
func WithStop(ctx, stop context.Context) (context.Context, func()) {
	return until(context.WithValue(ctx, stopKey{}, stop), stop)
}

// isStopping reports whether the stop of a context from [WithStop] is done. The context is canceled a moment later.
func isStopping(ctx context.Context) bool {
	stop, ok := ctx.Value(stopKey{}).(context.Context)
	return ok && stop.Err() != nil
}

var errPanicked = errors.New("the call panicked")

// enter waits until one of the principal's calls may run. If it returns an error, the call must not run.
func (q *Queue) enter(ctx, closed context.Context, who string) error {
	if err := stopReason(ctx, closed); err != nil {
		return err
	}
	w, err := q.join(who)
	if w == nil {
		return err
	}
	timer := time.NewTimer(q.limits.Wait)
	defer timer.Stop()
	select {
	case <-w.turn:
	case <-w.lost:
	case <-timer.C:
	case <-ctx.Done():
	case <-closed.Done():
	}
	err = stopReason(ctx, closed)
	switch had := q.quit(who, w); {
	case had && err != nil:
		(&call{queue: q, who: who}).end()
	case !had && err == nil:
		err = ErrBusy
	}
	return err
}

// stopReason returns an error if a call should not run anymore.
func stopReason(ctx, closed context.Context) error {
	err := context.Cause(ctx)
	if errors.Is(err, ErrStopped) || err == nil && (closed.Err() != nil || isStopping(ctx)) {
		return fmt.Errorf("%w; nothing was done", ErrStopped)
	}
	return err
}

// join adds a waiter to the principal's line. It returns nil if the call may run at once, and an error if there is no
// room.
func (q *Queue) join(who string) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lineOf(who) == nil && q.running < q.limits.Running && q.mayBegin(who) {
		q.start(who)
		q.begun[who]++
		return nil, nil
	}
	if q.waiting-q.patient >= q.limits.Waiting && !q.makeRoom(who) {
		return nil, ErrBusy
	}
	w := &waiter{turn: make(chan struct{}), lost: make(chan struct{})}
	w.begin = func() { close(w.turn) }
	q.add(who, w)
	return w, nil
}

func (q *Queue) add(who string, w *waiter) {
	l := q.lineOf(who)
	if l == nil {
		l = &line{who: who}
		q.lines = append(q.lines, l)
	}
	l.waiters = append(l.waiters, w)
	q.waiting++
}

// lineOf returns the principal's line, or nil if none of its calls is waiting.
func (q *Queue) lineOf(who string) *line {
	for _, l := range q.lines {
		if l.who == who {
			return l
		}
	}
	return nil
}

// makeRoom rejects the newest call in the longest line if the principal's line would be shorter even with one more
// call.
func (q *Queue) makeRoom(who string) bool {
	var longest *line
	for _, l := range q.lines {
		if longest == nil || len(l.impatient()) > len(longest.impatient()) {
			longest = l
		}
	}
	own := 1
	if l := q.lineOf(who); l != nil {
		own += len(l.impatient())
	}
	if longest == nil || len(longest.impatient()) <= own {
		return false
	}
	all := longest.impatient()
	last := all[len(all)-1]
	close(last.lost)
	longest.remove(last)
	q.waiting--
	return true
}

// impatient returns the calls that can be rejected.
func (l *line) impatient() (list []*waiter) {
	for _, w := range l.waiters {
		if w.lost != nil {
			list = append(list, w)
		}
	}
	return list
}

func (l *line) remove(w *waiter) {
	l.waiters = slices.DeleteFunc(l.waiters, func(other *waiter) bool { return other == w })
}

// maxBegun limits how many of one principal's calls are in progress. It is half of the default maximum number of a
// sandbox's processes, so that other principals can use the other half.
const maxBegun = 128

func (q *Queue) mayBegin(who string) bool {
	return q.each[who] < q.limits.PerPrincipal && q.begun[who] < maxBegun
}

func (q *Queue) start(who string) {
	q.running++
	q.each[who]++
}

// vacate records that one of the principal's calls no longer runs, and starts waiting calls.
func (q *Queue) vacate(who string) {
	q.running--
	if q.each[who]--; q.each[who] == 0 {
		delete(q.each, who)
	}
	q.next()
}

// next starts waiting calls while there is room. Each time, it starts the oldest call of the first line that may
// begin a call, and makes that line the last line.
func (q *Queue) next() {
	for i := 0; q.running < q.limits.Running && i < len(q.lines); {
		l := q.lines[i]
		if !q.mayBegin(l.who) {
			i++
			continue
		}
		first := l.waiters[0]
		l.waiters = l.waiters[1:]
		q.lines = slices.Delete(q.lines, i, i+1)
		if len(l.waiters) > 0 {
			q.lines = append(q.lines, l)
		}
		q.waiting--
		q.start(l.who)
		q.begun[l.who]++
		first.begun = true
		first.begin()
		i = 0
	}
}

// quit removes a call from its line. It reports whether the turn of the call has already come.
func (q *Queue) quit(who string, w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lineOf(who)
	if l == nil || !slices.Contains(l.waiters, w) {
		return w.begun
	}
	l.remove(w)
	if q.waiting--; w.lost == nil {
		q.patient--
	}
	q.dropEmptyLines()
	return false
}

func (q *Queue) dropEmptyLines() {
	q.lines = slices.DeleteFunc(q.lines, func(l *line) bool { return len(l.waiters) == 0 })
}

// AddQueue adds and returns a queue for another kind of call. It has its own limits, stops when q stops, and appears in
// q's metrics with its name, which must be unique, as writ.queue.name.
func (q *Queue) AddQueue(name string, o *Options) *Queue {
	if o == nil {
		o = &Options{}
	}
	other := newQueue(name, *o, q.meter)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.others = append(q.others, other)
	return other
}

// Shutdown rejects waiting and new calls, except calls that a running call makes. It waits until the running calls have
// finished or ctx is done, and then stops the queue.
func (q *Queue) Shutdown(ctx context.Context) {
	all := append(q.list(), q)
	for _, each := range all {
		each.refuse(each.close)
	}
	ended := make(chan struct{})
	go func() {
		for _, each := range all {
			each.calls.Wait()
		}
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	q.Stop()
}

// Stop cancels running calls, with the cause [ErrStopped], and rejects waiting and new calls. Only the queue's owner
// calls it: a transport that ends cancels only its own calls.
func (q *Queue) Stop() {
	q.refuse(q.end)
	for _, other := range q.list() {
		other.Stop()
	}
}

func (q *Queue) list() []*Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.others)
}
