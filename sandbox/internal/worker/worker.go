package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// The reasons for which the host ends a worker.
var (
	errOvertime = errors.New("the deadline has passed")
	errStopped  = errors.New("the caller has gone")
	errUnused   = errors.New("no longer needed")
	errBreach   = errors.New("the worker broke the protocol")
	errSilence  = errors.New("the worker was not ready in time")
)

// readyLists is the room for what a worker says of itself.
const readyLists = 64 << 10

// unreadShare of a worker's memory may wait for it to be read: what is more it
// couldn't hold.
const unreadShare = 2

// settling is how long a worker whose connection has broken gets to die.
const settling = 500 * time.Millisecond

// worker is the host's half of one child. One run at a time uses it.
type worker struct {
	*child
	in       *frameReader
	out      *frameWriter
	box      *outbox          // to which out writes
	runs     uint32           // the number of the last run
	spoke    bool             // whether it has said anything in a run
	tools    []engine.Binding // what the child has been told
	sessions map[string]int   // whose VMs it has, and how many programs they have run
	preludes map[string]bool  // which it has compiled, unless it has forgotten them

	isolation Isolation // as the child found it before its first run

	mu    sync.Mutex
	cause error // why it was killed
}

// newWorker starts a worker and waits until it is ready.
func newWorker(ctx context.Context, o *Options) (*worker, error) {
	token := rand.Text()
	c, err := start(o, token)
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	w := newHalf(c.link, o)
	w.child = c
	late := time.AfterFunc(o.StartTimeout, func() { w.kill(errSilence) })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { w.kill(errStopped) })()
	if err := w.greet(hello{Token: token, Memory: o.Memory}); err != nil {
		return nil, w.stillborn(ctx, err)
	}
	if err := w.isolation.Check(o.MinIsolation); err != nil {
		w.retire()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	return w, nil
}

// newHalf is the half of a worker that knows nothing of its process.
func newHalf(l link, o *Options) *worker {
	box := &outbox{link: l, limit: int(o.Memory / unreadShare)}
	return &worker{in: newFrameReader(l, keep), out: newFrameWriter(box), box: box}
}

// greet sends hello and takes ready for an answer.
func (w *worker) greet(h hello) error {
	if err := w.out.send(kindHello, 0, h); err != nil {
		return err
	}
	f, err := w.in.next()
	if err != nil {
		return err
	}
	if f.kind != kindReady || f.run != 0 {
		return fmt.Errorf("%w: frame %q is not due", errBreach, f.kind)
	}
	w.log.reset()
	var r ready
	err = f.distrust(&r, readyLists)
	w.isolation = r.Isolation
	return err
}

// stillborn ends a worker that didn't become ready, and says why it didn't.
func (w *worker) stillborn(ctx context.Context, err error) error {
	w.part(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := w.killed(); err != nil && !errors.Is(err, errUnused) {
		return fmt.Errorf("start worker: %w; it wrote: %s", err, w.log.orNothing())
	}
	return w.ended()
}

// ended says how a worker ended that has done nothing.
func (w *worker) ended() error {
	if w.cmd.ProcessState.Success() { // which no worker does
		return fmt.Errorf("start worker: %s ended at once and is no worker: a command must be a program that imports github.com/writ-go/writ/sandbox; it wrote: %s", w.cmd.Path, w.log.orNothing())
	}
	return fmt.Errorf("start worker: it ended with %s; it wrote: %s", w.cmd.ProcessState, w.log.orNothing())
}

// part waits for the end of a worker whose connection has failed, and sees to it.
func (w *worker) part(err error) {
	if errors.Is(err, errBreach) {
		w.kill(err)
	}
	select {
	case <-w.exited:
	case <-time.After(settling):
		if !w.dying() {
			w.kill(fmt.Errorf("%w: it closed the connection", errBreach))
		}
	}
	w.retire()
}

// kill ends the worker. The first cause is the one that is told.
func (w *worker) kill(cause error) {
	w.mu.Lock()
	if w.cause == nil {
		w.cause = cause
	}
	w.mu.Unlock()
	w.child.kill()
}

// killed returns why the host ended the worker, or nil if it did not.
func (w *worker) killed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause
}

// orNothing returns what was kept, or says that it is nothing.
func (t *tail) orNothing() string {
	if s := t.String(); strings.TrimSpace(s) != "" {
		return s
	}
	return "nothing"
}

// retire ends a worker and waits for its end.
func (w *worker) retire() {
	w.kill(errUnused)
	<-w.exited
	w.box.close()
}
