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

// ErrStuck is returned by a run in this process that was told to stop and two
// seconds later had not: it is in a native function that goja cannot interrupt.
// Its goroutine goes on, and its memory stays in use, until that function returns.
var ErrStuck = errors.New("the program does not react to being stopped")

// inProcess runs programs in this process.
type inProcess struct {
	engine *vm.Engine
	heap   heap

	mu     sync.Mutex
	idle   []runner
	closed bool
}

func newInProcess(memory int64) *inProcess {
	return &inProcess{engine: new(vm.Engine), heap: heap{limit: memory}}
}

// Run implements tier.
func (p *inProcess) Run(ctx context.Context, job *engine.Job, host engine.Host) (*engine.Result, error) {
	r, err := p.take()
	if err != nil {
		return nil, err
	}
	done := make(chan *engine.Result, 1)
	watched := &stuckable{Host: host, heap: &p.heap, stuck: make(chan struct{})}
	defer p.heap.leave(watched)
	r <- func() {
		pprof.SetGoroutineLabels(ctx) // the caller's
		result := p.engine.Run(ctx, job, watched)
		pprof.SetGoroutineLabels(context.Background())
		done <- result
	}
	select {
	case result := <-done:
		p.give(r)
		return result, nil
	case <-watched.stuck:
		close(r)
		return nil, ErrStuck
	}
}

// Isolation implements tier.
func (p *inProcess) Isolation() worker.Isolation {
	return worker.Isolation{Gaps: []string{"programs run in the host's own process: use New instead of NewInProcess"}}
}

// Closed implements tier.
func (p *inProcess) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Close implements tier.
func (p *inProcess) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.idle {
		close(r)
	}
	p.idle, p.closed = nil, true
	return nil
}

// runner is a goroutine that runs programs, one after the other: growing the
// stack of a new one takes longer than a short program.
type runner chan func()

// maxIdle is how many runners are kept.
const maxIdle = 4

func (p *inProcess) take() (runner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, workers.ErrClosed
	}
	if last := len(p.idle) - 1; last >= 0 {
		r := p.idle[last]
		p.idle = p.idle[:last]
		return r, nil
	}
	r := make(runner)
	go func() {
		for run := range r {
			run()
		}
	}()
	return r, nil
}

func (p *inProcess) give(r runner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) == maxIdle {
		close(r)
		return
	}
	p.idle = append(p.idle, r)
}

// stuckable is a host that is told when its program does not react, and that can
// stop it.
type stuckable struct {
	engine.Host
	heap  *heap
	stuck chan struct{}
	stop  func(error)
}

// Begin implements [engine.Stucker].
func (s *stuckable) Begin(stop func(error)) {
	s.stop = stop
	s.heap.enter(s)
}

// patience is how long a program in this process may take to react. It has only to
// be given a processor; but on a busy machine that takes longer than a worker is
// given, and nothing is won here by giving up early: nobody can end the goroutine.
// So it is as long as a caller may be kept waiting.
const patience = 2 * time.Second

// Patience implements [engine.Stucker].
func (s *stuckable) Patience() time.Duration { return patience }

// Stuck implements [engine.Stucker].
func (s *stuckable) Stuck(*engine.Failure) { close(s.stuck) }
