package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// The reasons for which the host ends a worker.
var (
	errOvertime = errors.New("the deadline has passed")
	errStopped  = errors.New("the caller has gone")
	errUnused   = errors.New("no longer needed")
	errSilence  = errors.New("the worker was not ready in time")
)

// helloLimit bounds the body of a frame before the first run.
const helloLimit = 1 << 20

// unreadShare of a worker's memory may wait for it to be read: what is more it
// couldn't hold.
const unreadShare = 2

// settling is how long a worker whose connection has broken gets to die.
const settling = 500 * time.Millisecond

// instance is the host's half of one child. One run at a time uses it.
type instance struct {
	*process
	in       *worker.Reader
	out      *worker.Writer
	box      *outbox          // to which out writes
	runs     uint32           // the number of the last run
	spoke    bool             // whether it has said anything in a run
	tools    []engine.Binding // what the child has been told
	sessions map[string]int   // whose VMs it has, and how many programs they have run
	preludes map[string]bool  // which it has compiled, unless it has forgotten them

	isolation worker.Isolation // as the child found it before its first run

	mu    sync.Mutex
	cause error // why it was killed
}

// newInstance starts a worker and waits until it is ready.
func newInstance(ctx context.Context, o *Options) (*instance, error) {
	token := rand.Text()
	c, err := start(o, token)
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	w := newInstanceOn(c.link, o)
	w.process = c
	late := time.AfterFunc(o.StartTimeout, func() { w.kill(errSilence) })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { w.kill(errStopped) })()
	if err := w.greet(worker.Hello{Token: token, Memory: o.Memory}); err != nil {
		return nil, w.stillborn(ctx, err)
	}
	if err := w.isolation.Check(o.MinIsolation); err != nil {
		w.retire()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	return w, nil
}

// newInstanceOn is the half of a worker that knows nothing of its process.
func newInstanceOn(l link, o *Options) *instance {
	box := &outbox{link: l, limit: int(o.Memory / unreadShare)}
	return &instance{in: worker.NewReader(l, helloLimit), out: worker.NewWriter(box), box: box}
}

// greet sends hello and takes ready for an answer.
func (w *instance) greet(h worker.Hello) error {
	if err := w.out.Send(worker.KindHello, 0, h); err != nil {
		return err
	}
	f, err := w.in.Next()
	if err != nil {
		return err
	}
	if f.Kind != worker.KindReady || f.Run != 0 {
		return fmt.Errorf("%w: frame %q is not due", worker.ErrBreach, f.Kind)
	}
	w.log.reset()
	var r worker.Ready
	err = f.DecodeUntrusted(&r, arrayRoom)
	w.isolation = r.Isolation
	return err
}

// stillborn ends a worker that didn't become ready, and says why it didn't.
func (w *instance) stillborn(ctx context.Context, err error) error {
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
func (w *instance) ended() error {
	if w.cmd.ProcessState.Success() { // which no worker does
		return fmt.Errorf("start worker: %s ended at once and is no worker: a command must be a program that imports github.com/writ-go/writ/sandbox; it wrote: %s", w.cmd.Path, w.log.orNothing())
	}
	return fmt.Errorf("start worker: it ended with %s; it wrote: %s", w.cmd.ProcessState, w.log.orNothing())
}

// part waits for the end of a worker whose connection has failed, and sees to it.
func (w *instance) part(err error) {
	if errors.Is(err, worker.ErrBreach) {
		w.kill(err)
	}
	select {
	case <-w.exited:
	case <-time.After(settling):
		if !w.dying() {
			w.kill(fmt.Errorf("%w: it closed the connection", worker.ErrBreach))
		}
	}
	w.retire()
}

// kill ends the worker. The first cause is the one that is told.
func (w *instance) kill(cause error) {
	w.mu.Lock()
	if w.cause == nil {
		w.cause = cause
	}
	w.mu.Unlock()
	w.process.kill()
}

// killed returns why the host ended the worker, or nil if it did not.
func (w *instance) killed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause
}

// orNothing returns what was kept, or says that it is nothing.
func (t *stderrLog) orNothing() string {
	if s := t.String(); strings.TrimSpace(s) != "" {
		return s
	}
	return "nothing"
}

// retire ends a worker and waits for its end.
func (w *instance) retire() {
	w.kill(errUnused)
	<-w.exited
	w.box.close()
}
