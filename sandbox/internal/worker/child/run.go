package child

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// Who reads from the host during a run.
const (
	nobody  int32 = iota // and the run's goroutine may
	itself               // the run's goroutine, for the verdict or because it is over
	another              // a goroutine of its own, from now on
)

// call is one run in the worker, and the host that its engine sees.
type call struct {
	s       *server
	run     uint32
	ctx     context.Context
	cancel  context.CancelFunc
	reader  atomic.Int32
	wanted  atomic.Bool // whether somebody is to read from now on
	verdict chan bool

	mu      sync.Mutex
	waiting map[int]func(engine.Reply)
}

func newCall(s *server, run uint32) *call {
	c := &call{s: s, run: run, verdict: make(chan bool, 1)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// listen starts a reader, if there is none and the run isn't over. The run's goroutine
// does so itself when it has the verdict for which it reads just now.
func (c *call) listen() {
	c.wanted.Store(true)
	if c.reader.CompareAndSwap(nobody, another) {
		go c.s.read()
	}
}

// over ends the run, and says whether the reading has passed to another.
func (c *call) over() (passed bool) {
	return !c.reader.CompareAndSwap(nobody, itself)
}

// Report implements engine.Host.
func (c *call) Report(r engine.Report) (allowed func() bool) {
	if err := c.s.out.Send(worker.KindReport, c.run, r); err != nil {
		c.s.end(err)
	}
	return c.allowed
}

// allowed waits for the verdict, reading it here if nobody else reads.
func (c *call) allowed() bool {
	if !c.reader.CompareAndSwap(nobody, itself) {
		return <-c.verdict
	}
	for len(c.verdict) == 0 {
		if err := c.s.step(); err != nil {
			c.s.end(err)
			return false
		}
	}
	if c.reader.Store(nobody); c.wanted.Load() {
		c.listen()
	}
	return <-c.verdict
}

// judged takes the verdict.
func (c *call) judged(f worker.Frame) error {
	var ok bool
	if err := f.Decode(&ok); err != nil {
		return err
	}
	select {
	case c.verdict <- ok:
	default:
	}
	return nil
}

// Call implements engine.Host.
func (c *call) Call(e engine.Call, answer func(engine.Reply)) (perform func()) {
	c.mu.Lock()
	if c.waiting == nil {
		c.waiting = map[int]func(engine.Reply){}
	}
	c.waiting[e.ID] = answer
	c.mu.Unlock()
	if err := c.s.out.Send(worker.KindCall, c.run, &e); err != nil {
		c.s.end(err)
		return nil
	}
	c.listen()
	return nil
}

// waits says whether a call has no answer yet.
func (c *call) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) > 0
}

// answered hands a reply to whoever waits for it.
func (c *call) answered(f worker.Frame) error {
	var r worker.Reply
	if err := f.Decode(&r); err != nil {
		return err
	}
	c.mu.Lock()
	answer := c.waiting[r.ID]
	delete(c.waiting, r.ID)
	c.mu.Unlock()
	if answer != nil {
		answer(r.Reply)
	}
	return nil
}

// Begin implements engine.Stucker.
func (c *call) Begin(func(error)) {}

// reaction is short, as a program that is only slow to react loses nothing by it:
// the failure is the same, and its worker is not used again after a limit anyway.
const reaction = 100 * time.Millisecond

// Patience implements engine.Stucker.
func (c *call) Patience() time.Duration { return reaction }

// Stuck implements engine.Stucker: the run will not come to an end, and this
// process with it.
func (c *call) Stuck(f *engine.Failure) {
	_ = c.s.out.Send(worker.KindLast, c.run, &engine.Result{Failure: f})
	leave(0)
}
