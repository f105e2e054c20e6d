package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
	"github.com/writ-go/writ/sandbox/internal/worker/child"
)

// ErrClosed is returned by [Pool.Run] after [Pool.Close].
var ErrClosed = errors.New("the pool of workers is closed")

var errNested = errors.New("this process is a worker itself: " +
	"do not start a sandbox from code that runs in a worker or in the init of a package")

// Options configures a pool. The zero value is a good choice.
type Options struct {
	// Kind is the kind of worker, as registered by child.Hook. Default: child.Sandbox.
	Kind string
	// Memory is how many bytes a worker may use in addition to what it needs without a program. Default: 256
	// MiB.
	Memory int64
	// Max is the maximum number of programs that compute at the same time. Default: twice
	// GOMAXPROCS, at least 4.
	Max int
	// Workers is the maximum number of workers, including those whose programs wait for calls. Default: 256, at least
	// Max.
	Workers int
	// Resident is how many bytes the workers of waiting programs may occupy together. Beyond that, programs
	// keep their slots while they wait. The memory is measured on Linux only. Default: Max times Memory, at
	// least 2 GiB.
	Resident int64
	// Idle is how long idle workers are kept. One idle worker is always kept. Default: 30
	// seconds.
	Idle time.Duration
	// Command is a program and its arguments to run instead of this executable.
	Command []string
	// StartTimeout is how long a worker may take to become ready. Default: 30 seconds.
	StartTimeout time.Duration
	// MinIsolation is the isolation that a worker must have to be used. Every worker must also
	// have the isolation of the first one.
	MinIsolation worker.Isolation
}

const (
	maxWorkers = 4096
	minMemory  = 16 << 20 // memory that the engine itself needs
)

func (o *Options) complete() error {
	o.Kind = cmp.Or(o.Kind, child.Sandbox)
	o.Memory = cmp.Or(o.Memory, 256<<20)
	o.Max = cmp.Or(o.Max, max(4, 2*runtime.GOMAXPROCS(0)))
	o.Workers = cmp.Or(o.Workers, max(256, o.Max))
	o.Resident = cmp.Or(o.Resident, max(int64(o.Max)*o.Memory, 2<<30))
	o.Idle = cmp.Or(o.Idle, 30*time.Second)
	o.StartTimeout = cmp.Or(o.StartTimeout, 30*time.Second)
	if o.Memory < minMemory {
		return fmt.Errorf("a memory limit of %d bytes is too small: use at least %d", o.Memory, int64(minMemory))
	}
	if n := max(o.Max, o.Workers); n > maxWorkers {
		return fmt.Errorf("%d workers are too many: use at most %d", n, maxWorkers)
	}
	if o.Workers > 0 && o.Workers < o.Max {
		return fmt.Errorf("%d workers are too few for %d programs that compute at the same time", o.Workers, o.Max)
	}
	if min(o.Max, o.Workers) < 1 || o.Idle < 0 || o.StartTimeout < 0 || o.Resident < 0 {
		return errors.New("an option is negative: use zero for the default")
	}
	return nil
}

// Pool runs jobs in worker processes. It is safe for concurrent use. No two jobs share a worker: if a tool runs
// another job in the same pool, that job takes a second worker.
type Pool struct {
	opts  Options
	slots *slots
	close sync.Once

	mu    sync.Mutex
	idle  []idleInstance // the last one is used next
	sweep *time.Timer    // calls trim
	trims sync.WaitGroup

	startErr  error     // the last start's error, or nil
	notBefore time.Time // the time before which no worker may be started
	started   time.Time // when a worker was last started
}

type idleInstance struct {
	*instance
	since time.Time
}

// NewPool returns a pool. It starts one worker, and returns an error if no worker can run in this environment.
func NewPool(o Options) (*Pool, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if child.IsWorker() {
		return nil, errNested
	}
	w, err := newInstance(context.Background(), &o)
	if err != nil {
		return nil, err
	}
	o.MinIsolation = w.isolation
	p := &Pool{opts: o, slots: newSlots(&o)}
	p.sweep = time.AfterFunc(o.Idle, p.trim)
	p.park(w)
	return p, nil
}

// Isolation returns the isolation of the first worker. All other workers have at least this isolation.
func (p *Pool) Isolation() worker.Isolation { return p.opts.MinIsolation }

// Run runs one job in its own worker. If all slots are taken, Run waits for a slot; that time does not count
// towards the job's limit. The ticket of a run that is not nested may be nil. Whatever the program does to its
// worker, Run returns a result. An error means that the program has not run: ctx was done, the pool is closed,
// the job cannot be encoded, a nested run cannot have a worker ([ErrNested]), or no worker can be started.
//
// Run calls the methods of host on its own goroutine, and never after it has returned.
// If one of them panics, so does Run. If ctx is done during the run, the result is a
// failure of kind [engine.KindStopped], at most a tenth of a second later.
func (p *Pool) Run(ctx context.Context, t *Ticket, job *engine.Job, host engine.Host) (*engine.Result, error) {
	if t == nil {
		t = NewTicket(nil, nil)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := p.slots.enter(ctx, t); err != nil {
		return nil, err
	}
	for lost := false; ; {
		w, err := p.take(ctx, job)
		if err != nil {
			p.free(t)
			return nil, err
		}
		res, err := p.try(ctx, t, w, job, host)
		switch {
		case errors.Is(err, errLost) && lost: // if two workers die in the same way, the program is probably the cause
			p.free(t)
			return res, nil
		case isRetried(err):
			lost = errors.Is(err, errLost)
		default:
			return res, err
		}
	}
}

// isRetried reports whether an error means that the job did not begin in its worker, so that it can be run in
// another worker. In a new worker, only errLost can happen.
func isRetried(err error) bool {
	return errors.Is(err, errLeftover) || errors.Is(err, errStale) || errors.Is(err, errLost)
}

// try runs a job in a worker, and frees the slot unless the job is to be tried again.
func (p *Pool) try(
	ctx context.Context, t *Ticket, w *instance, job *engine.Job, host engine.Host,
) (res *engine.Result, err error) {
	reusable := false // remains false if host panics
	defer func() {
		if isRetried(err) {
			w.retire()
		} else {
			p.give(t, w, reusable)
		}
	}()
	res, reusable, err = w.do(ctx, t, job, host)
	return res, err
}

// free frees the slot of a run that no longer has a worker.
func (p *Pool) free(t *Ticket) {
	p.slots.leave(t)
	p.slots.discharge()
}

// take returns an idle worker or a new one. The caller has a slot.
func (p *Pool) take(ctx context.Context, job *engine.Job) (*instance, error) {
	for {
		w := p.unpark(job)
		if w == nil {
			return p.start(ctx)
		}
		if w.process.idle() {
			return w, nil
		}
		w.retire()
	}
}

// start starts a worker. After a failed start, it immediately returns the same error for as long as that start
// took, so that not every run waits for StartTimeout.
func (p *Pool) start(ctx context.Context) (*instance, error) {
	p.mu.Lock()
	wait, last := time.Until(p.notBefore), p.startErr
	p.mu.Unlock()
	if wait > 0 {
		return nil, fmt.Errorf("%w; try again in %v", last, wait.Round(time.Millisecond))
	}
	began := time.Now()
	w, err := newInstance(ctx, &p.opts)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.startErr, p.notBefore, p.started = nil, time.Time{}, time.Now()
	case p.started.Before(began): // no other start has succeeded since
		p.startErr, p.notBefore = err, time.Now().Add(time.Since(began))
	}
	return w, err
}

// give takes back the worker and the slot of a run. It keeps at most Options.Max workers idle.
func (p *Pool) give(t *Ticket, w *instance, reusable bool) {
	if reusable && p.park(w) {
		p.free(t)
		return
	}
	go func() {
		defer p.free(t)
		w.retire()
		p.warm()
	}()
}

// warm starts a worker if none is idle. If that fails, the next run tries again and
// returns the error.
func (p *Pool) warm() {
	p.mu.Lock()
	needed := len(p.idle) == 0
	p.mu.Unlock()
	if !needed || p.Closed() {
		return
	}
	if w, err := p.start(context.Background()); err == nil && !p.park(w) {
		w.retire()
	}
}

// park makes a worker idle, unless enough workers are idle already. It reports whether it did.
func (p *Pool) park(w *instance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) >= p.opts.Max {
		return false
	}
	p.idle = append(p.idle, idleInstance{w, time.Now()})
	if len(p.idle) == 2 {
		p.sweep.Reset(p.opts.Idle)
	}
	return true
}

// unpark takes the best worker for a job from the idle workers. If no worker is idle, it returns nil.
func (p *Pool) unpark(job *engine.Job) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.choose(job)
	if i < 0 {
		return nil
	}
	w := p.idle[i].instance
	p.idle = slices.Delete(p.idle, i, i+1)
	return w
}

// trim ends the workers that have been idle for too long, and schedules itself for the
// remaining ones.
func (p *Pool) trim() {
	p.mu.Lock()
	old := 0
	for old < len(p.idle)-1 && time.Since(p.idle[old].since) >= p.opts.Idle {
		old++
	}
	expired := slices.Clone(p.idle[:old])
	if len(expired) > 0 { // WaitGroup.Add must not run concurrently with the end of Wait
		p.trims.Add(len(expired))
	}
	p.idle = append(p.idle[:0], p.idle[old:]...)
	if len(p.idle) > 1 {
		p.sweep.Reset(p.opts.Idle - time.Since(p.idle[0].since))
	}
	p.mu.Unlock()
	for _, w := range expired {
		w.retire()
		p.trims.Done()
	}
}

// Closed reports whether Close has been called.
func (p *Pool) Closed() bool { return p.slots.isClosed() }

// Close ends all workers after the runs in progress, which it does not cancel. Runs that have not begun return
// [ErrClosed]. When Close returns, the pool has no more processes, descriptors or goroutines.
func (p *Pool) Close() error {
	p.close.Do(func() {
		p.slots.close()
		p.mu.Lock()
		rest := p.idle
		p.idle = nil // so that a trim that begins now does nothing
		p.mu.Unlock()
		p.sweep.Stop()
		p.trims.Wait()
		for _, w := range rest {
			w.retire()
		}
	})
	return nil
}
