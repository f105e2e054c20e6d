package sandbox

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// ErrStuck is returned by a run in this process that was told to stop and did
// not: it is in a native function that goja cannot interrupt. Its goroutine
// goes on, and its memory stays in use, until that function returns.
var ErrStuck = errors.New("the program does not react to being stopped")

// stuckAfter is how long a program may take to react.
const stuckAfter = 250 * time.Millisecond

// inProcess runs programs in this process.
type inProcess struct{ closed atomic.Bool }

// Run implements tier.
func (p *inProcess) Run(ctx context.Context, job *engine.Job, host engine.Host) (*engine.Result, error) {
	if p.closed.Load() {
		return nil, worker.ErrClosed
	}
	done := make(chan *engine.Result, 1)
	go func() { done <- engine.Run(ctx, job, host) }()
	late, stop := afterDone(ctx, job.Limits.Time)
	defer stop()
	select {
	case result := <-done:
		return result, nil
	case <-late:
		return nil, ErrStuck
	}
}

// afterDone is closed when a program should long have stopped: ctx is done, or
// its time is over.
func afterDone(ctx context.Context, limit time.Duration) (late <-chan struct{}, stop func()) {
	c := make(chan struct{})
	overdue := time.AfterFunc(limit+stuckAfter, func() { close(c) })
	release := context.AfterFunc(ctx, func() { overdue.Reset(stuckAfter) })
	return c, func() {
		release()
		overdue.Stop()
	}
}

// Isolation implements tier.
func (p *inProcess) Isolation() worker.Isolation {
	return worker.Isolation{Gaps: []string{"programs run in the host's own process: use New instead of NewInProcess"}}
}

// Close implements tier.
func (p *inProcess) Close() error {
	p.closed.Store(true)
	return nil
}
