package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// Reasons why the host kills a worker, other than [worker.ErrBreach] and errUnread.
var (
	errTimeout = errors.New("the deadline has passed")
	errStopped = errors.New("the caller canceled the run")
	errUnused  = errors.New("the worker is no longer needed")
	errStartup = errors.New("the worker was not ready in time")
)

const (
	// handshakeLimit limits the size of a frame's body before the first run.
	handshakeLimit = 1 << 20
	// unreadShare limits the data that a worker has not read to 1/unreadShare of its memory.
	unreadShare = 2
	// exitTime is how long a worker may take to exit after its connection has failed.
	exitTime = 5 * time.Second
)

// instance is one worker as the host sees it. It has at most one run at a time.
type instance struct {
	*process
	in       *worker.Reader
	out      *worker.Writer
	box      *outbox          // the outbox to which out writes
	runs     uint32           // the last run's number
	tools    []engine.Binding // the tools that were sent last
	sessions map[string]int   // for each session whose VM the worker has, the number of programs that the VM has run
	preludes map[string]bool  // the hashes of the preludes that it has compiled

	isolation worker.Isolation // the isolation that the worker found before its first run

	mu    sync.Mutex
	cause error // the reason why the host killed the worker, or nil
}

// newInstance starts a worker and waits until it is ready.
func newInstance(ctx context.Context, o *Options) (*instance, error) {
	token := rand.Text()
	p, err := start(o, token)
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	w := newInstanceOn(p.link, o)
	w.process = p
	late := time.AfterFunc(o.StartTimeout, func() { w.kill(errStartup) })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { w.kill(errStopped) })()
	if err := w.handshake(worker.Hello{Token: token, Memory: o.Memory}); err != nil {
		return nil, w.startError(ctx, err)
	}
	if err := w.isolation.Check(o.MinIsolation); err != nil {
		w.retire()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	return w, nil
}

// newInstanceOn returns an instance that uses a connection and has no process.
func newInstanceOn(l link, o *Options) *instance {
	box := &outbox{link: l, limit: int(o.Memory / unreadShare)}
	return &instance{in: worker.NewReader(l, handshakeLimit), out: worker.NewWriter(box), box: box}
}

// handshake sends hello and waits for ready.
func (w *instance) handshake(h worker.Hello) error {
	if err := w.out.Send(worker.KindHello, 0, h); err != nil {
		return err
	}
	f, err := w.in.Next()
	if err != nil {
		return err
	}
	if f.Kind != worker.KindReady || f.Run != 0 {
		return fmt.Errorf("%w: unexpected frame %q", worker.ErrBreach, f.Kind)
	}
	w.log.reset()
	var r worker.Ready
	err = f.DecodeUntrusted(&r, arrayRoom)
	w.isolation = r.Isolation
	return err
}

// startError ends a worker that did not become ready, and returns the reason.
func (w *instance) startError(ctx context.Context, err error) error {
	w.disconnect(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := w.killed(); err != nil && !errors.Is(err, errUnused) {
		return fmt.Errorf("start worker: %w; its output: %s", err, w.output())
	}
	return w.exitError()
}

// exitError describes the exit of a worker that did not become ready.
func (w *instance) exitError() error {
	if w.cmd.ProcessState.Success() { // no worker exits with status 0 here
		return fmt.Errorf("start worker: %s exited at once and is not a worker: the command must be a program "+
			"that imports github.com/writ-go/writ/sandbox; its output: %s", w.cmd.Path, w.output())
	}
	return fmt.Errorf("start worker: the worker ended with %s; its output: %s", w.cmd.ProcessState, w.output())
}

// output returns the beginning of what the worker wrote to its standard error.
func (w *instance) output() string {
	if s := w.log.String(); s != "" {
		return s
	}
	return "none"
}

// disconnect waits until a worker exits after its connection has failed, and kills the worker
// if it does not exit.
func (w *instance) disconnect(err error) {
	if errors.Is(err, worker.ErrBreach) {
		w.kill(err)
	}
	select {
	case <-w.ended: // closed before Wait returns, which may take seconds on a busy machine
	case <-w.exited:
	case <-time.After(exitTime):
		w.kill(fmt.Errorf("%w: it closed the connection", worker.ErrBreach))
	}
	w.retire()
}

// kill ends the worker. Only the first cause is reported.
func (w *instance) kill(cause error) {
	w.mu.Lock()
	if w.cause == nil {
		w.cause = cause
	}
	w.mu.Unlock()
	w.process.kill()
}

// killed returns why the host killed the worker, or nil if it did not.
func (w *instance) killed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause
}

// retire ends the worker and waits until it has exited.
func (w *instance) retire() {
	w.kill(errUnused)
	<-w.exited
	w.box.close()
}
