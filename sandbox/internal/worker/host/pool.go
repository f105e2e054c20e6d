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

// errNested says that the process may not start workers.
var errNested = errors.New("this process is a worker itself: start no sandbox from code that runs in one, or in the init of a package")

// Options says how a pool's workers are. The zero value is a good choice.
type Options struct {
	Kind         string           // whose workers: a name given to Hook; default Sandbox
	Memory       int64            // bytes each may use on top of what it needs empty; default 256 MiB
	Max          int              // how many there are at most, together using Max × Memory; default twice GOMAXPROCS, at least 4
	Warm         int              // how many stay when there is nothing to do; default 1
	Idle         time.Duration    // after how long the others end; default 30 s
	Command      []string         // a dedicated program and its arguments instead of this executable
	InheritEnv   []string         // names of variables that package inits before ours need; gone before any program runs
	StartTimeout time.Duration    // default 30 s
	MinIsolation worker.Isolation // what a worker must have to be used; later ones what the first one had
}

// mostWorkers is more than any machine has use for.
const mostWorkers = 4096

// smallestMemory is what the engine itself needs to do anything.
const smallestMemory = 16 << 20

func (o *Options) complete() error {
	o.Kind = defaulted(o.Kind, child.Sandbox)
	o.Memory = defaulted(o.Memory, 256<<20)
	o.Max = defaulted(o.Max, max(4, 2*runtime.GOMAXPROCS(0)))
	o.Warm = min(defaulted(o.Warm, 1), o.Max)
	o.Idle = defaulted(o.Idle, 30*time.Second)
	o.StartTimeout = defaulted(o.StartTimeout, 30*time.Second)
	if o.Memory < smallestMemory {
		return fmt.Errorf("a memory of %d bytes is too small to run anything: give at least %d", o.Memory, int64(smallestMemory))
	}
	if o.Max > mostWorkers {
		return fmt.Errorf("%d workers are too many: %d at most", o.Max, mostWorkers)
	}
	if o.Max < 1 || o.Warm < 0 || o.Idle < 0 || o.StartTimeout < 0 {
		return errors.New("an option is negative: leave it zero for the default")
	}
	return nil
}

func defaulted[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Pool runs jobs in worker processes, and is safe for concurrent use. A job has
// a worker for itself, from beginning to end: one that runs others through its
// tools, in the same pool, takes a worker for each.
type Pool struct {
	opts Options
	// slots bounds the workers: whoever holds, starts or ends one has a slot, and
	// a new one is started only where none is idle. It is the queue, too: those who
	// wait to send on a channel are served in the order in which they came.
	slots chan struct{}
	done  chan struct{} // closed by Close

	starter starter
	close   sync.Once

	mu    sync.Mutex
	idle  []idler // the last one is the next to be used
	sweep *time.Timer
	trims sync.WaitGroup
}

// idler is a worker that waits since a time.
type idler struct {
	*instance
	since time.Time
}

// NewPool starts a pool with one worker, so that an environment in which none
// can live is reported now.
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

// Isolation is what the first worker has, and all others have at least.
func (p *Pool) Isolation() worker.Isolation { return p.opts.MinIsolation }

// Run runs one job in a worker of its own, waiting for one if all are busy, as
// long as those who came before; the job's limit of time counts from when it has
// one. Whatever the program does to its worker, there is a result. An error is
// nothing that the program is guilty of: ctx was done before it began, the pool
// is closed, the job can't be sent, no worker can be started ([ErrCannotStart] if
// it wasn't even tried, as several have failed).
//
// The methods of host are called on the calling goroutine, or on another while that
// waits, and not after Run has returned; if one panics, Run does. If ctx is done
// during the run, the result is a failure of kind [engine.Stopped], a tenth of a
// second later at most.
func (p *Pool) Run(ctx context.Context, job *engine.Job, host engine.Host) (*engine.Result, error) {
	for lost := false; ; {
		res, err := p.try(ctx, job, host)
		switch {
		case errors.Is(err, errLeftover), errors.Is(err, errStale): // of which no new worker has either
		case errors.Is(err, errLost) && !lost: // the system may kill any worker at any time, but hardly two
			lost = true
		case errors.Is(err, errLost):
			return res, nil
		default:
			return res, err
		}
	}
}

// try runs a job in the worker that comes first.
func (p *Pool) try(ctx context.Context, job *engine.Job, host engine.Host) (*engine.Result, error) {
	if err := p.enter(ctx); err != nil {
		return nil, err
	}
	w, err := p.take(ctx, job)
	if err != nil {
		p.leave()
		return nil, err
	}
	reusable := false // and stays so if host panics
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
	select {
	case <-p.done:
		p.leave()
		return ErrClosed
	default:
		return nil
	}
}

func (p *Pool) leave() { <-p.slots }

// take returns an idle worker, or a new one. The caller has a slot.
func (p *Pool) take(ctx context.Context, job *engine.Job) (*instance, error) {
	for {
		w := p.unpark(job)
		if w == nil {
			return p.starter.worker(ctx)
		}
		if w.process.idle() {
			return w, nil
		}
		if w.retire(); !w.spoke {
			p.starter.failed(w.ended())
		}
	}
}

// give takes a worker back, and the slot with it.
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

// warm starts a worker where none is idle. If that fails, the next run tries
// again, and has the error.
func (p *Pool) warm() {
	select {
	case <-p.done:
		return
	default:
	}
	p.mu.Lock()
	needed := len(p.idle) == 0
	p.mu.Unlock()
	if !needed {
		return
	}
	if w, err := p.starter.worker(context.Background()); err == nil {
		p.park(w)
	}
}

// park puts a worker aside for the next run.
func (p *Pool) park(w *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, idler{w, time.Now()})
	if len(p.idle) == p.opts.Warm+1 {
		p.sweep.Reset(p.opts.Idle)
	}
}

// unpark returns the idle worker that a job should have, or nil.
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

// trim ends the workers that have been idle for long, and comes back for those
// that haven't.
func (p *Pool) trim() {
	p.mu.Lock()
	old := 0
	for old < len(p.idle)-p.opts.Warm && time.Since(p.idle[old].since) >= p.opts.Idle {
		old++
	}
	tired := append([]idler(nil), p.idle[:old]...)
	if len(tired) > 0 { // to add nothing beside a Wait that ends is misuse, too
		p.trims.Add(len(tired))
	}
	p.idle = append(p.idle[:0], p.idle[old:]...)
	if len(p.idle) > p.opts.Warm {
		p.sweep.Reset(p.opts.Idle - time.Since(p.idle[0].since))
	}
	p.mu.Unlock()
	for _, w := range tired {
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

// Close waits for the runs in progress, which it doesn't cancel, and ends all
// workers. Runs that have not begun return [ErrClosed]. When Close returns, no
// process, descriptor or goroutine of the pool is left.
func (p *Pool) Close() error {
	p.close.Do(func() {
		close(p.done)
		for range cap(p.slots) {
			p.slots <- struct{}{} // and keep it
		}
		p.mu.Lock()
		last := p.idle
		p.idle = nil // for a trim that begins only now
		p.mu.Unlock()
		p.sweep.Stop()
		p.trims.Wait()
		for _, w := range last {
			w.retire()
		}
	})
	return nil
}
