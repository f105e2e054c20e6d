package child

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// server is the worker's half: one run at a time.
//
// The goroutine that reads a run frame runs it, for handing it over to another
// would cost a wake-up. It also reads the verdict. Only when the program calls a
// tool, or the host nudges the process to hear its stop, does a second goroutine
// start to read; then that one goes on to read the next run, and the first ends
// with its own. (A timer instead of the nudge would cost a short run a third of
// its time.)
type server struct {
	run   Run
	in    *worker.Reader
	out   *worker.Writer
	tools []engine.Binding
	eager func(bool) // tells the link whether nothing but its reader wants to run
	done  chan error

	growth    *growth    // nil where nobody counts
	collector *collector // nil where nobody watches it

	mu  sync.Mutex
	cur *call // the run in progress, or nil
}

func newServer(link io.ReadWriter, run Run) *server {
	s := &server{
		run: run, in: worker.NewReader(link, worker.MaxBody), out: worker.NewWriter(link),
		eager: func(bool) {}, done: make(chan error, 1),
	}
	if l, ok := link.(interface{ eagerly(bool) }); ok {
		s.eager = l.eagerly
	}
	return s
}

// greeting reads hello.
func (s *server) greeting(token string) (worker.Hello, error) {
	var h worker.Hello
	f, err := s.in.Next()
	if err != nil {
		return h, fmt.Errorf("the host said nothing: %w", err)
	}
	if f.Kind != worker.KindHello {
		return h, fmt.Errorf("the host began with frame %q", f.Kind)
	}
	if err := f.Decode(&h); err != nil {
		return h, err
	}
	if token == "" || h.Token != token {
		return h, errors.New("the host doesn't know the token in " + TokenEnv)
	}
	return h, nil
}

// serve runs what it is sent until the connection ends. The goroutines are its
// own because package init is locked to a thread, and switching threads is slow.
func (s *server) serve() error {
	go s.read()
	err := <-s.done
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// read takes frames until the reading has passed to another goroutine.
func (s *server) read() {
	for {
		s.eager(s.quiet())
		f, err := s.in.Next()
		if err != nil {
			s.end(err)
			return
		}
		passed, err := s.take(f)
		if err != nil {
			s.end(err)
		}
		if passed || err != nil {
			return
		}
	}
}

// step takes one frame of the run that the caller is in, which waits for it.
func (s *server) step() error {
	s.eager(true)
	f, err := s.in.Next()
	if err != nil {
		return err
	}
	switch f.Kind {
	case worker.KindVerdict, worker.KindReply, worker.KindStop:
		return s.deliver(f)
	}
	return fmt.Errorf("frame %q from the host is not due", f.Kind)
}

// end ends the worker. A run in progress isn't waited for.
func (s *server) end(err error) {
	select {
	case s.done <- err:
	default:
	}
}

// take handles one frame, and says whether the reading has passed on.
func (s *server) take(f worker.Frame) (passed bool, err error) {
	switch f.Kind {
	case worker.KindTools:
		s.tools = nil
		return false, f.Decode(&s.tools)
	case worker.KindRun:
		job := &engine.Job{}
		if err := f.Decode(job); err != nil {
			return false, err
		}
		job.Tools = s.tools
		return s.execute(f.Run, job)
	case worker.KindVerdict, worker.KindReply, worker.KindStop:
		return false, s.deliver(f)
	}
	return false, fmt.Errorf("frame %q from the host is not due", f.Kind)
}

// execute runs one job and sends how it ended.
func (s *server) execute(run uint32, job *engine.Job) (passed bool, err error) {
	c := newCall(s, run)
	defer c.cancel()
	s.begin(c)
	s.collector.begin()
	res := s.run(c.ctx, job, c)
	s.collector.end()
	s.begin(nil)
	passed = c.over()
	end := worker.KindResult
	if s.growth.exceeded() {
		end = worker.KindLast
	}
	return passed, s.out.Send(end, run, fitting(res))
}

// longest is how much of a failure's words is sent. A program may throw an error
// of any length, and nobody reads on for so long.
const longest = 4 << 10

// fitting makes a result fit the host's limits. Of a tool's error, the host has
// the whole.
func fitting(res *engine.Result) *engine.Result {
	if res == nil || res.Failure == nil {
		return res
	}
	f := *res.Failure
	f.Message, f.Hint = cut(f.Message), cut(f.Hint)
	if t := f.Tool; t != nil {
		f.Tool = &engine.ToolError{Tool: cut(t.Tool), Kind: cut(t.Kind), Message: cut(t.Message)}
	}
	short := *res
	short.Failure = &f
	return &short
}

func cut(s string) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}

// begin makes c the run in progress, or nil none.
func (s *server) begin(c *call) {
	s.mu.Lock()
	s.cur = c
	s.mu.Unlock()
	if c != nil && !nudged {
		c.listen()
	}
}

// look has the run in progress listen: the host has said stop.
func (s *server) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur != nil {
		s.cur.listen()
	}
}

// quiet says whether there is nothing to do before the next frame comes: no run is
// in progress, or one that waits for answers. Whoever has just got one goes first.
func (s *server) quiet() bool {
	if s.current() == nil {
		return true
	}
	runtime.Gosched()
	c := s.current()
	return c == nil || c.waits()
}

func (s *server) current() *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cur
}

// deliver passes a frame to the run it is for, unless that is over.
func (s *server) deliver(f worker.Frame) error {
	c := s.current()
	if c == nil || c.run != f.Run {
		return nil
	}
	switch f.Kind {
	case worker.KindStop:
		c.cancel()
		return nil
	case worker.KindVerdict:
		return c.judged(f)
	default:
		return c.answered(f)
	}
}
