package child

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// attempt is one job in this worker. It implements [engine.Host] and [engine.Supervisor] by
// exchanging frames with the host.
type attempt struct {
	s        *server
	id       uint32
	job      *engine.Job
	ctx      context.Context
	cancel   context.CancelFunc
	verdict  chan bool
	clean    bool // no verdict follows, because the report is clean and the job has RunClean
	runClock atomic.Pointer[engine.RunClock]

	mu      sync.Mutex
	pending map[int]func(engine.Reply) // calls without a reply
}

func newAttempt(s *server, id uint32, job *engine.Job) *attempt {
	r := &attempt{s: s, id: id, job: job, verdict: make(chan bool, 1), pending: map[int]func(engine.Reply){}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Report implements [engine.Host].
func (r *attempt) Report(report engine.Report) {
	if err := r.s.out.Send(worker.KindReport, r.id, report); err != nil {
		r.s.end(err)
	}
	r.clean = r.job.RunClean && report.Clean()
}

// Allowed implements [engine.Host].
func (r *attempt) Allowed() bool { return r.clean || <-r.verdict }

// decide receives the verdict.
func (r *attempt) decide(f worker.Frame) error {
	var ok bool
	if err := f.Decode(&ok); err != nil {
		return err
	}
	select {
	case r.verdict <- ok:
	default:
	}
	return nil
}

// Call implements [engine.Host].
func (r *attempt) Call(c engine.Call, reply func(engine.Reply)) {
	r.mu.Lock()
	r.pending[c.ID] = reply
	r.mu.Unlock()
	if err := r.s.out.Send(worker.KindCall, r.id, c); err != nil {
		r.s.end(err)
	}
}

// answer passes a reply to the call that waits for it.
func (r *attempt) answer(f worker.Frame) error {
	var a worker.Reply
	if err := f.Decode(&a); err != nil {
		return err
	}
	r.mu.Lock()
	reply := r.pending[a.ID]
	delete(r.pending, a.ID)
	r.mu.Unlock()
	if reply != nil {
		reply(a.Reply)
	}
	return nil
}

// Clock implements [engine.Host].
func (r *attempt) Clock(c engine.RunClock) { r.runClock.Store(&c) }

// clock stops or starts the program's clocks.
func (r *attempt) clock(f worker.Frame) error {
	var still bool
	if err := f.Decode(&still); err != nil {
		return err
	}
	if c := r.runClock.Load(); c != nil {
		(*c).SetStill(still)
	}
	return nil
}

// Begin implements [engine.Supervisor].
func (r *attempt) Begin(func(error)) {}

// Waiting implements [engine.Host].
func (r *attempt) Waiting(replies int) {
	if err := r.s.out.Send(worker.KindWaiting, r.id, replies); err != nil {
		r.s.end(err)
	}
}

// patience can be short: whether a stopped program ends in time or is stuck, it fails in the same way, and its
// worker is not used again.
const patience = 100 * time.Millisecond

// Patience implements [engine.Supervisor].
func (r *attempt) Patience() time.Duration { return patience }

// Stuck implements [engine.Supervisor]. It reports the failure and ends the process,
// because the program will not end.
func (r *attempt) Stuck(f *engine.Failure) {
	_ = r.s.out.Send(worker.KindLast, r.id, &engine.Result{Failure: f})
	leave(0)
}
