package child

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// server receives jobs and runs them one at a time. One goroutine reads frames and
// another runs jobs, so that a stop or a reply arrives while a program is running.
type server struct {
	run   Run
	in    *worker.Reader
	out   *worker.Writer
	tools []engine.Binding // the next run's tools
	runs  chan *attempt
	done  chan error

	growth *growth // nil if memory is not measured

	mu  sync.Mutex
	cur *attempt // the run in progress, or nil
}

func newServer(link io.ReadWriter, f Run) *server {
	return &server{
		run: f, in: worker.NewReader(link, worker.MaxBody), out: worker.NewWriter(link),
		runs: make(chan *attempt, 1), done: make(chan error, 1),
	}
}

// handshake reads the hello frame and checks its token.
func (s *server) handshake(token string) (worker.Hello, error) {
	var h worker.Hello
	f, err := s.in.Next()
	if err != nil {
		return h, fmt.Errorf("reading the first frame: %w", err)
	}
	if f.Kind != worker.KindHello {
		return h, fmt.Errorf("the first frame is %q instead of hello", f.Kind)
	}
	if err := f.Decode(&h); err != nil {
		return h, err
	}
	if token == "" || h.Token != token {
		return h, errors.New("the host does not know the token in " + TokenEnv)
	}
	return h, nil
}

// serve runs jobs until the connection ends. It starts goroutines because package
// init, which calls it, is locked to a thread, and switching threads is slow.
func (s *server) serve() error {
	go s.execute()
	go func() {
		for {
			f, err := s.in.Next()
			if err == nil {
				err = s.handle(f)
			}
			if err != nil {
				close(s.runs)
				s.end(err)
				return
			}
		}
	}()
	err := <-s.done
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// end ends serve without waiting for a run in progress.
func (s *server) end(err error) {
	select {
	case s.done <- err:
	default:
	}
}

// handle processes one frame.
func (s *server) handle(f worker.Frame) error {
	switch f.Kind {
	case worker.KindTools:
		s.tools = nil
		return f.Decode(&s.tools)
	case worker.KindRun:
		job := &engine.Job{}
		if err := f.Decode(job); err != nil {
			return err
		}
		job.Tools = s.tools
		r := newAttempt(s, f.Run, job)
		s.setCurrent(r)
		s.runs <- r
		return nil
	case worker.KindVerdict, worker.KindReply, worker.KindClock, worker.KindStop:
		return s.deliver(f)
	}
	return fmt.Errorf("unexpected frame %q from the host", f.Kind)
}

// execute runs one job after another and sends their results.
func (s *server) execute() {
	for r := range s.runs {
		res := s.run(r.ctx, r.job, r)
		r.cancel()
		s.setCurrent(nil)
		kind := worker.KindResult
		if s.growth.exceeded() {
			kind = worker.KindLast
		}
		if err := s.out.Send(kind, r.id, shortened(res)); err != nil {
			s.end(err)
			return
		}
	}
}

func (s *server) setCurrent(r *attempt) {
	s.mu.Lock()
	s.cur = r
	s.mu.Unlock()
}

// deliver passes a frame to the run in progress. It drops frames for runs that have ended: the
// host may have sent them before it received the result.
func (s *server) deliver(f worker.Frame) error {
	s.mu.Lock()
	r := s.cur
	s.mu.Unlock()
	if r == nil || r.id != f.Run {
		return nil
	}
	switch f.Kind {
	case worker.KindStop:
		r.cancel()
		return nil
	case worker.KindVerdict:
		return r.decide(f)
	case worker.KindClock:
		return r.clock(f)
	default:
		return r.answer(f)
	}
}

// maxMessage limits a failure's text. A program may throw an error of any length.
const maxMessage = 4 << 10

// shortened returns a result that fits the host's limits. It drops the data of a tool's error, because the host
// already has that data.
func shortened(res *engine.Result) *engine.Result {
	if res == nil || res.Failure == nil {
		return res
	}
	f := *res.Failure
	f.Message, f.Hint = display.Cut(f.Message, maxMessage), display.Cut(f.Hint, maxMessage)
	if t := f.Tool; t != nil {
		f.Tool = &engine.ToolError{
			Tool: display.Cut(t.Tool, maxMessage), Kind: display.Cut(t.Kind, maxMessage),
			Message: display.Cut(t.Message, maxMessage), ID: display.Cut(t.ID, maxMessage),
		}
	}
	short := *res
	short.Failure = &f
	return &short
}
