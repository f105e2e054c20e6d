package sandbox

import (
	"context"
	"errors"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/vm"
	"github.com/writ-go/writ/sandbox/internal/worker"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
)

// ErrStuck is returned by a run in this process that did not react within two seconds of being stopped, because the
// program is in a native function that goja cannot interrupt. The program's goroutine and memory remain in use until
// the function returns.
var ErrStuck = errors.New("the program does not react to being stopped")

// inProcess runs programs in this process.
type inProcess struct {
	engine     *vm.Engine
	heap       heap
	goroutines goroutines // run the programs

	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

func newInProcess(memory int64) *inProcess {
	return &inProcess{engine: new(vm.Engine), heap: heap{limit: memory}, goroutines: newGoroutines()}
}

// Run implements runner.
func (p *inProcess) Run(ctx context.Context, _ *workers.Ticket, job *engine.Job, host engine.Host) (
	*engine.Result, error,
) {
	if !p.begin() {
		return nil, workers.ErrClosed
	}
	defer p.runs.Done()
	done := make(chan *engine.Result, 1)
	watched := &watchedHost{Host: host, heap: &p.heap, stuck: make(chan struct{})}
	defer p.heap.leave(watched)
	p.goroutines.do(func() {
		pprof.SetGoroutineLabels(ctx) // the labels of the caller
		result := p.engine.Run(ctx, job, watched)
		pprof.SetGoroutineLabels(context.Background())
		done <- result
	})
	select {
	case result := <-done:
		return result, nil
	case <-watched.stuck:
		return nil, ErrStuck
	}
}

// begin counts a run, unless the sandbox is closed.
func (p *inProcess) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.runs.Add(1)
	}
	return !p.closed
}

// Isolation implements runner.
func (p *inProcess) Isolation() worker.Isolation {
	return worker.Isolation{Gaps: []string{"programs run in the host's own process: use New instead of NewInProcess"}}
}

// Closed implements runner.
func (p *inProcess) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Close implements runner.
func (p *inProcess) Close() error {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	p.runs.Wait()
	if first {
		close(p.goroutines.done)
	}
	return nil
}

// goroutines runs functions on other goroutines. It reuses these goroutines until done is closed, because growing a new
// goroutine's stack takes longer than many short functions.
type goroutines struct {
	work chan func() // read by idle goroutines
	done chan struct{}
}

func newGoroutines() goroutines { return goroutines{make(chan func()), make(chan struct{})} }

func (g goroutines) do(f func()) {
	select {
	case g.work <- f:
	default:
		go func() {
			for f(); ; f() {
				select {
				case f = <-g.work:
				case <-g.done:
					return
				}
			}
		}()
	}
}

// watchedHost is the host of a program that runs in this process. It also registers the run with the heap, and notices
// if the program is stuck. It implements [engine.Supervisor].
type watchedHost struct {
	engine.Host
	heap  *heap
	stuck chan struct{}
	stop  func(error)
}

// Begin implements [engine.Supervisor].
func (w *watchedHost) Begin(stop func(error)) {
	w.stop = stop
	w.heap.enter(w)
}

// Patience implements [engine.Supervisor]. On a busy machine, a program needs time to react. Giving up earlier would
// gain nothing, because a goroutine cannot be ended from outside.
func (w *watchedHost) Patience() time.Duration { return 2 * time.Second }

// Stuck implements [engine.Supervisor].
func (w *watchedHost) Stuck(*engine.Failure) { close(w.stuck) }
