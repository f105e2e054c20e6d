package host

import (
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
	// Memory is how many bytes a worker may use in addition to what it needs when it is
	// empty. Default: 256 MiB.
	Memory int64
	// Max is the maximum number of workers. Default: twice GOMAXPROCS, at least 4.
	Max int
	// Warm is how many workers stay when there is nothing to do. Default: 1.
	Warm int
	// Idle is when the other idle workers end. Default: 30 seconds.
	Idle time.Duration
	// Command is a program and its arguments to run instead of this executable.
	Command []string
	// InheritEnv names environment variables that other packages' inits need. They are
	// removed before a program runs.
	InheritEnv []string
	// StartTimeout is how long a worker may take to become ready. Default: 30 seconds.
	StartTimeout time.Duration
	// MinIsolation is what a worker must have to be used. In addition, every worker must
	// have what the first one had.
	MinIsolation worker.Isolation
}

const (
	maxWorkers = 4096
	minMemory  = 16 << 20 // what the engine itself needs
)

func (o *Options) complete() error {
	o.Kind = orDefault(o.Kind, child.Sandbox)
	o.Memory = orDefault(o.Memory, 256<<20)
	o.Max = orDefault(o.Max, max(4, 2*runtime.GOMAXPROCS(0)))
	o.Warm = min(orDefault(o.Warm, 1), o.Max)
	o.Idle = orDefault(o.Idle, 30*time.Second)
	o.StartTimeout = orDefault(o.StartTimeout, 30*time.Second)
	if o.Memory < minMemory {
		return fmt.Errorf("a memory limit of %d bytes is too small: use at least %d", o.Memory, int64(minMemory))
	}
	if o.Max > maxWorkers {
		return fmt.Errorf("%d workers are too many: use at most %d", o.Max, maxWorkers)
	}
	if o.Max < 1 || o.Warm < 0 || o.Idle < 0 || o.StartTimeout < 0 {
		return errors.New("an option is negative: use zero for the default")
	}
	return nil
}

func orDefault[T comparable](value, def T) T {
	var zero T
	if value == zero {
		return def
	}
	return value
}

// Pool runs jobs in worker processes. It is safe for concurrent use. A job has a worker
// for itself: a tool that runs another job in the same pool takes a second worker.
type Pool struct {
	opts Options
	// slots bounds the number of workers: a slot is taken by each worker that runs a
	// job, starts or ends. It is also the queue, because goroutines that wait to send on
	// a channel are served in order.
	slots chan struct{}
	done  chan struct{} // closed by Close

	starter starter
	close   sync.Once

	mu    sync.Mutex
	idle  []idleInstance // the last one is used next
	sweep *time.Timer    // calls trim
	trims sync.WaitGroup
}

type idleInstance struct {
	*instance
	since time.Time
}

// NewPool returns a pool. It starts one worker, so that an environment in which no
// worker can run is reported now.
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
	p := &Pool{opts: o, slots: make(chan struct{}, o.Max), done: make(chan struct{})}
	p.starter.start = func(ctx context.Context) (*instance, error) { return newInstance(ctx, &p.opts) }
	p.sweep = time.AfterFunc(o.Idle, p.trim)
	p.park(w)
	return p, nil
}

// Isolation returns what the first worker has. All others have at least that.
func (p *Pool) Isolation() worker.Isolation { return p.opts.MinIsolation }

// Run runs one job in its own worker. If all workers are busy, it waits in line; the
// job's time limit starts after that. Whatever the program does to its worker, Run
// returns a result. An error means that the program has not run: ctx was done, the pool
// is closed, the job cannot be encoded, or no worker can be started ([ErrCannotStart]
// if Run did not try because several have failed).
//
// Run calls the methods of host on its own goroutine, and never after it has returned.
// If one of them panics, so does Run. If ctx is done during the run, the result is a
// failure of kind [engine.KindStopped], at most a tenth of a second later.
func (p *Pool) Run(ctx context.Context, job *engine.Job, host engine.Host) (*engine.Result, error) {
	for lost := false; ; {
		res, err := p.try(ctx, job, host)
		switch {
		case errors.Is(err, errLeftover), errors.Is(err, errStale): // cannot happen in a new worker
		case errors.Is(err, errLost) && !lost: // the system may kill a worker at any time, but hardly two
			lost = true
		case errors.Is(err, errLost):
			return res, nil
		default:
			return res, err
		}
	}
}

// try runs a job in one worker.
func (p *Pool) try(ctx context.Context, job *engine.Job, host engine.Host) (*engine.Result, error) {
	if err := p.enter(ctx); err != nil {
		return nil, err
	}
	w, err := p.take(ctx, job)
	if err != nil {
		p.leave()
		return nil, err
	}
	reusable := false // stays false if host panics
	defer func() { p.give(w, reusable) }()
	res, reusable, err := w.do(ctx, job, host)
	if w.spoke {
		p.starter.worked()
	}
	return res, err
}

// enter waits for a slot.
func (p *Pool) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-p.done:
		return ErrClosed
	}
	if p.Closed() {
		p.leave()
		return ErrClosed
	}
	return nil
}

func (p *Pool) leave() { <-p.slots }

// take returns an idle worker or a new one. The caller has a slot.
func (p *Pool) take(ctx context.Context, job *engine.Job) (*instance, error) {
	for {
		w := p.unpark(job)
		if w == nil {
			return p.starter.instance(ctx)
		}
		if w.process.idle() {
			return w, nil
		}
		if w.retire(); !w.spoke {
			p.starter.failed(w.exitError())
		}
	}
}

// give returns a worker and the slot.
func (p *Pool) give(w *instance, reusable bool) {
	if reusable {
		p.park(w)
		p.leave()
		return
	}
	go func() {
		defer p.leave()
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
	if w, err := p.starter.instance(context.Background()); err == nil {
		p.park(w)
	}
}

// park makes a worker idle.
func (p *Pool) park(w *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, idleInstance{w, time.Now()})
	if len(p.idle) == p.opts.Warm+1 {
		p.sweep.Reset(p.opts.Idle)
	}
}

// unpark returns the idle worker for a job, or nil.
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
// others.
func (p *Pool) trim() {
	p.mu.Lock()
	old := 0
	for old < len(p.idle)-p.opts.Warm && time.Since(p.idle[old].since) >= p.opts.Idle {
		old++
	}
	expired := slices.Clone(p.idle[:old])
	if len(expired) > 0 { // even Add(0) must not run concurrently with the end of Wait
		p.trims.Add(len(expired))
	}
	p.idle = append(p.idle[:0], p.idle[old:]...)
	if len(p.idle) > p.opts.Warm {
		p.sweep.Reset(p.opts.Idle - time.Since(p.idle[0].since))
	}
	p.mu.Unlock()
	for _, w := range expired {
		w.retire()
		p.trims.Done()
	}
}

// Closed reports whether Close has been called.
func (p *Pool) Closed() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Close ends all workers after the runs in progress, which it does not cancel. Runs that
// have not begun return [ErrClosed]. When Close returns, all processes, descriptors and
// goroutines of the pool are gone.
func (p *Pool) Close() error {
	p.close.Do(func() {
		close(p.done)
		for range cap(p.slots) {
			p.slots <- struct{}{} // never released
		}
		p.mu.Lock()
		rest := p.idle
		p.idle = nil // a trim that begins now finds nothing
		p.mu.Unlock()
		p.sweep.Stop()
		p.trims.Wait()
		for _, w := range rest {
			w.retire()
		}
	})
	return nil
}
