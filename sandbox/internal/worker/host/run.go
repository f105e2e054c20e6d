package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

const (
	// lateness is how long after a program's deadline its worker may still
	// come to an end by itself, and so tell what the program has written. It has
	// one processor, on a machine that may be busy.
	lateness = 250 * time.Millisecond
	// stopping is how long it may do so after the caller has gone.
	stopping = 100 * time.Millisecond
	// frameLimit bounds what a worker may send at once, and outputGrowth what
	// each byte of output that the job allows may add: two streams of the
	// console and their ends, in which any byte may become \u0000, and a value.
	frameLimit   = 16 << 20
	outputGrowth = 14
	// sourceGrowth is what each byte of the source may add to the report, as text
	// and as lists in memory.
	sourceGrowth = 256
	// turnSize is what a turn of a session takes, or a tool that its program has seen.
	turnSize = 64
	turnRoom = 256 // in the host's memory
	// spare is what any frame may need besides.
	spare = 128 << 10
	// arrayRoom is the memory for the arrays of a message, besides what the length of
	// the source or a session may add.
	arrayRoom = 1 << 20
	// lateCalls is how many calls a program may make before it learns that it
	// was stopped.
	lateCalls = 1000
)

// errLeftover says that a worker, though it had sent its result, has gone on to
// talk. The next program, of which it has told nothing yet, is not to blame.
var errLeftover = errors.New("the worker has not finished its last run")

// errLost says that the worker was killed, and not by us, before it said anything
// of the program: it has run nothing of it. Beside it there is the result that this
// is, if it was the program's doing.
var errLost = errors.New("the worker was killed before the program began")

// run is one run as the host sees it.
type run struct {
	w        *instance
	id       uint32
	job      *engine.Job
	host     engine.Host
	calls    int  // made so far
	late     int  // of them, after the caller had gone
	heard    bool // whether the worker has said anything
	judged   bool // whether report has come
	passed   bool // whether the verdict was yes
	rebuilds bool // whether the session is made again first
	spared   bool // whether the job was sent without what the worker should have
	last     bool // whether the worker has said that this was its last run
	gone     atomic.Bool
	over     atomic.Bool
}

// do runs a job, and says whether the worker may do another. The host's methods
// are called by this goroutine or its deputy, and never after it returns. An error
// means that the program has not begun: the job could not be sent, errLeftover,
// or errLost.
func (w *instance) do(ctx context.Context, job *engine.Job, host engine.Host) (res *engine.Result, reusable bool, err error) {
	w.runs++
	r := &run{w: w, id: w.runs, job: job, host: host, rebuilds: w.rebuilds(job)}
	w.in.Limit = r.limit
	deadline := r.deadline()
	unwatch := context.AfterFunc(ctx, r.stop)
	res, err = r.talk()
	kept := unwatch()
	if deadline != nil {
		kept = deadline.Stop() && kept
	}
	switch {
	case errors.Is(err, worker.ErrEncode):
		return nil, false, fmt.Errorf("job: %w", err)
	case errors.Is(err, errLeftover):
		return nil, false, err
	case err != nil:
		f := r.failure(err)
		if r.rebuilds && !r.judged && f.Kind != engine.Stopped { // it was not this program
			f = &engine.Failure{Kind: engine.Diverged, Message: "its programs, made again, ended so: " + f.Message}
		}
		if !r.heard && errors.Is(r.w.killed(), errUnused) && slain(r.w.cmd.ProcessState) { // by somebody else
			return &engine.Result{Failure: f}, false, errLost
		}
		return &engine.Result{Failure: f}, false, nil
	}
	if s := job.Session; s != nil {
		w.remember(s, res)
	}
	w.learn(job.Prelude, r.judged)
	reusable = r.end() && kept && !r.last && w.in.Drained() && harmless(res.Failure)
	if res.Failure != nil && res.Failure.Kind == engine.Stale {
		w.preludes = nil
		return nil, reusable, errStale
	}
	return res, reusable, nil
}

// limit is how long the body of a frame may be.
func (r *run) limit(k worker.Kind) int {
	output, argument := r.job.Limits.Output, r.job.Limits.Argument
	switch {
	case k == worker.KindReport:
		return min(frameLimit, spare+sourceGrowth*len(r.job.Source))
	case k == worker.KindCall && argument > 0: // both arguments
		return min(frameLimit, spare+2*argument)
	case output <= 0, k == worker.KindCall:
		return frameLimit
	}
	return spare + outputGrowth*output + turnSize*r.sessionElements()
}

// sessionElements is how many array elements a result may need to describe the run of
// a session's program.
func (r *run) sessionElements() int {
	if r.job.Session == nil {
		return 0
	}
	return engine.MaxTurns + 1 + len(r.job.Tools)
}

// deadline starts the timer that ends a run which doesn't end itself.
func (r *run) deadline() *time.Timer {
	if r.job.Limits.Time <= 0 {
		return nil
	}
	limit := r.job.Limits.Time
	if r.rebuilds {
		limit *= 2
	}
	return time.AfterFunc(limit+lateness, func() { r.w.kill(errOvertime) })
}

// stop asks the run to end, as the caller has gone, and soon sees to it. The
// worker isn't used again.
func (r *run) stop() {
	r.gone.Store(true)
	time.AfterFunc(stopping, func() { r.w.kill(errStopped) })
	_ = r.w.out.Send(worker.KindStop, r.id, nil)
}

// end makes late replies be dropped. What has not been read by now makes the
// worker useless: nobody knows how long that would take.
func (r *run) end() bool {
	r.w.out.Lock()
	defer r.w.out.Unlock()
	r.over.Store(true)
	return r.w.box.empty()
}

// talk sends the job and answers what the worker says until it sends a result.
func (r *run) talk() (*engine.Result, error) {
	if err := r.send(); errors.Is(err, worker.ErrEncode) || errors.Is(err, errUnread) {
		return nil, err
	}
	for { // the end of the connection is found here, and what was said before it
		if res, err := r.hear(); res != nil || err != nil {
			return res, err
		}
	}
}

// hear takes one frame, which may be the result.
func (r *run) hear() (*engine.Result, error) {
	f, err := r.w.in.Next()
	if err != nil {
		return nil, err
	}
	r.w.spoke, r.heard = true, true
	if f.Run < r.id && r.id > 1 && !r.judged {
		return nil, errLeftover
	}
	if f.Run != r.id {
		return nil, fmt.Errorf("%w: frame %q of run %d in run %d", worker.ErrBreach, f.Kind, f.Run, r.id)
	}
	switch f.Kind {
	case worker.KindReport:
		return nil, r.report(f)
	case worker.KindCall:
		return nil, r.call(f)
	case worker.KindResult, worker.KindLast:
		r.last = f.Kind == worker.KindLast
		return r.result(f)
	}
	return nil, fmt.Errorf("%w: frame %q is not due", worker.ErrBreach, f.Kind)
}

// send sends the job, and its tools if they aren't those of the last run.
func (r *run) send() error {
	out := r.w.out
	out.Lock()
	defer out.Unlock()
	if !same(r.w.tools, r.job.Tools) {
		if err := out.Add(worker.KindTools, r.id, r.job.Tools); err != nil {
			return err
		}
		r.w.tools = r.job.Tools
	}
	job, spared := r.w.outgoing(r.job)
	r.spared = spared
	if err := out.Add(worker.KindRun, r.id, job); err != nil {
		return err
	}
	return out.Flush()
}

// same says whether two slices are the very same one. Tools belong to a snapshot
// and don't change, so there is no need to compare more.
func same(a, b []engine.Binding) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// report passes on what the parse found and sends the verdict.
func (r *run) report(f worker.Frame) error {
	if r.judged {
		return fmt.Errorf("%w: a second report", worker.ErrBreach)
	}
	var rep engine.Report
	if err := f.DecodeUntrusted(&rep, arrayRoom+sourceGrowth*len(r.job.Source)); err != nil {
		return err
	}
	for _, s := range rep.Sites {
		if s.Tool < -1 || s.Tool >= len(r.job.Tools) {
			return fmt.Errorf("%w: a call site of tool %d of %d", worker.ErrBreach, s.Tool, len(r.job.Tools))
		}
	}
	r.judged = true
	r.passed = r.host.Report(rep)()
	if err := r.w.out.Send(worker.KindVerdict, r.id, r.passed); errors.Is(err, errUnread) {
		return err
	}
	return nil
}

// call passes on a tool call.
func (r *run) call(f worker.Frame) error {
	var c engine.Call
	if err := f.DecodeUntrusted(&c, 0); err != nil {
		return err
	}
	switch {
	case !r.passed:
		return fmt.Errorf("%w: call %d of a program that was not allowed", worker.ErrBreach, c.ID)
	case c.ID != r.calls+1:
		return fmt.Errorf("%w: call %d after call %d", worker.ErrBreach, c.ID, r.calls)
	case c.Tool < 0 || c.Tool >= len(r.job.Tools):
		return fmt.Errorf("%w: call of tool %d of %d", worker.ErrBreach, c.Tool, len(r.job.Tools))
	}
	r.calls++
	if err := fits("argument", max(len(c.Args), len(c.More)), r.job.Limits.Argument); err != nil {
		return err
	}
	if r.gone.Load() {
		return r.ignore()
	}
	if perform := r.host.Call(c, r.answer(c)); perform != nil {
		go perform()
	}
	return nil
}

// ignore drops a call that comes after the caller has gone. A worker that goes on
// and on has not heard that, or won't.
func (r *run) ignore() error {
	if r.late++; r.late <= lateCalls {
		return nil
	}
	r.w.kill(errStopped)
	return errStopped
}

// answer returns the function that answers a call, once. It may run on any
// goroutine, and after the run.
func (r *run) answer(c engine.Call) func(engine.Reply) {
	var answered atomic.Bool
	return func(a engine.Reply) {
		if answered.Swap(true) || r.over.Load() {
			return
		}
		if r.reply(c.ID, a) != nil {
			_ = r.reply(c.ID, engine.Reply{Error: &engine.ToolError{
				Kind: "internal", Message: "the tool's answer has no JSON form",
			}})
		}
	}
}

// reply sends one answer. An error of the connection is the reader's to find.
func (r *run) reply(id int, a engine.Reply) error {
	out := r.w.out
	out.Lock()
	defer out.Unlock()
	if r.over.Load() {
		return nil
	}
	if err := out.Add(worker.KindReply, r.id, &worker.Reply{ID: id, Reply: a}); err != nil {
		return err
	}
	if err := out.Flush(); errors.Is(err, errUnread) {
		r.w.kill(err)
	}
	return nil
}

// result takes the end of the run.
func (r *run) result(f worker.Frame) (*engine.Result, error) {
	var res *engine.Result
	if err := f.DecodeUntrusted(&res, arrayRoom+turnRoom*r.sessionElements()); err != nil {
		return nil, err
	}
	switch {
	case res == nil:
		return nil, fmt.Errorf("%w: no result", worker.ErrBreach)
	case res.Failure == nil && !r.passed:
		return nil, fmt.Errorf("%w: a good end of a program that was not allowed", worker.ErrBreach)
	case res.Failure != nil && !kinds[res.Failure.Kind]:
		return nil, fmt.Errorf("%w: a failure of kind %.50q", worker.ErrBreach, res.Failure.Kind)
	case res.Failure != nil && res.Failure.Kind == engine.Stale && (r.judged || !r.spared):
		return nil, fmt.Errorf("%w: it says that it lacks what it has", worker.ErrBreach)
	case res.Failure != nil && (res.Failure.Call < 0 || res.Failure.Call > r.calls):
		return nil, fmt.Errorf("%w: a failure of call %d of %d", worker.ErrBreach, res.Failure.Call, r.calls)
	case res.Failure != nil && slices.ContainsFunc(res.Failure.Calls, func(id int) bool { return id < 1 || id > r.calls }):
		return nil, fmt.Errorf("%w: a failure of calls that were not made", worker.ErrBreach)
	case slices.ContainsFunc(res.Used, func(tool int) bool { return tool < 0 || tool >= len(r.job.Tools) }):
		return nil, fmt.Errorf("%w: it used tools that it does not have", worker.ErrBreach)
	case min(res.Stdout.Bytes, res.Stderr.Bytes) < 0:
		return nil, fmt.Errorf("%w: less than nothing was written", worker.ErrBreach)
	}
	if err := fits("value", len(res.Value), r.job.Limits.Output); err != nil {
		return nil, err
	}
	return res, nil
}

// kinds are the failures that an engine reports.
var kinds = map[string]bool{
	engine.Syntax: true, engine.Refused: true, engine.Thrown: true, engine.Timeout: true, engine.Stopped: true,
	engine.Deadlock: true, engine.TooLarge: true, engine.BadValue: true, engine.Memory: true, engine.Crashed: true,
	engine.ComputeLimit: true, engine.WaitLimit: true, engine.Unawaited: true, engine.Diverged: true, engine.Stale: true,
}

// smallestValue is what any program may hand over, as null and {} are written
// without a look at the limit.
const smallestValue = 4

// fits makes sure that a value is as short as the engine would have made it.
func fits(what string, size, limit int) error {
	if limit > 0 && size > max(limit, smallestValue) {
		return fmt.Errorf("%w: %s of %d bytes is over the limit of %d", worker.ErrBreach, what, size, limit)
	}
	return nil
}

// harmless says whether a program that ended so leaves nothing behind.
func harmless(f *engine.Failure) bool {
	if f == nil {
		return true
	}
	switch f.Kind {
	case engine.Syntax, engine.Refused, engine.Thrown, engine.Unawaited, engine.Deadlock, engine.BadValue, engine.Diverged, engine.Stale:
		return true
	}
	return false
}

// failure says why a run has no result.
func (r *run) failure(err error) *engine.Failure {
	r.over.Store(true)
	if cause := r.w.killed(); cause == nil {
		r.w.part(err)
	}
	switch cause := r.w.killed(); {
	case errors.Is(cause, errOvertime):
		return overtime(r.job.Limits.Time)
	case errors.Is(cause, errStopped):
		return stopped()
	case errors.Is(cause, errUnread):
		return unread(cause)
	case errors.Is(cause, worker.ErrBreach):
		return &engine.Failure{Kind: engine.Crashed, Message: cause.Error()}
	default:
		return r.w.obituary()
	}
}
