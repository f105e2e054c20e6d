package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

const (
	// gracePeriod is how long a worker may take to end the run by itself after the program's deadline. Its result then
	// includes the program's output.
	gracePeriod = 250 * time.Millisecond
	// stopPeriod is how long a worker may take to end the run after the caller has canceled it.
	stopPeriod = 100 * time.Millisecond
	// lateCalls is how many calls a program may make before it learns that it was
	// stopped.
	lateCalls = 1000
)

// Limits for what a worker may send.
const (
	maxFrame    = 16 << 20
	frameMargin = 128 << 10 // bytes that any frame may need in addition to the limits
	// outputFactor is the maximum number of bytes in a result for each byte of Limits.Output: a result has a
	// value and two console streams with their tails, and each byte of the streams may be escaped as \u0000.
	outputFactor = 14
	// sourceFactor is the number of bytes that one source byte may add to the report, both in the frame and in the
	// decoded arrays.
	sourceFactor = 256
	// turnSize is the number of bytes that a recorded turn, or a tool that a session's program has seen, may add to a
	// frame. turnRoom is the number of bytes that it may add to the decoded message.
	turnSize, turnRoom = 64, 256
	// arrayRoom is the number of bytes that any message's decoded arrays may take.
	arrayRoom = 1 << 20
)

// errLeftover is the error for a worker that sent a frame after the result of an earlier run. The current
// program has not run.
var errLeftover = errors.New("the worker has not finished its last run")

// errLost is the error for a worker that was killed, but not by the host, before it sent
// anything in this run. The program has not run.
var errLost = errors.New("the worker was killed before the program began")

// attempt is one job in a worker.
type attempt struct {
	w        *instance
	ticket   *Ticket
	id       uint32
	job      *engine.Job
	host     engine.Host
	calls    int         // the number of calls made so far
	turns    int         // the number of recorded turns so far
	late     int         // the number of calls made after the run was canceled
	heard    bool        // whether the worker has sent anything
	reported bool        // whether the report has arrived
	allowed  bool        // whether the host has allowed the program to run
	replays  bool        // whether the session's earlier programs run again first
	abridged bool        // whether the job was sent without a session or prelude that the worker should already have
	last     bool        // whether the worker cannot be used again
	canceled atomic.Bool // whether the caller has canceled the run
	over     atomic.Bool // whether the run has ended, so that replies are dropped

	waits
}

// do runs a job and reports whether the worker may be used again. It calls the host's methods
// on this goroutine only. An error means that the program has not run: the job could not be
// encoded, errStale, errLeftover, or errLost. With errLost, res is the result to report if the
// program was the cause.
func (w *instance) do(
	ctx context.Context, t *Ticket, job *engine.Job, host engine.Host,
) (res *engine.Result, reusable bool, err error) {
	w.runs++
	r := &attempt{w: w, ticket: t, id: w.runs, job: job, host: host, replays: w.replays(job)}
	w.in.Limit = r.limit
	r.startDeadline()
	host.Clock(r)
	cancelStop := context.AfterFunc(ctx, r.stop)
	res, err = r.exchange()
	inTime := cancelStop()
	inTime = r.stopDeadline() && inTime
	if err != nil {
		res, err = r.failed(err)
		return res, false, err
	}
	if s := job.Session; s != nil {
		w.remember(s, res)
	}
	if r.reported {
		w.learn(job.Prelude)
	}
	reusable = r.close() && inTime && !r.last && w.in.Drained() && harmless(res.Failure)
	if res.Failure != nil && res.Failure.Kind == engine.KindStale {
		w.preludes = nil
		return nil, reusable, errStale
	}
	return res, reusable, nil
}

// failed returns the outcome of a run without a result.
func (r *attempt) failed(err error) (*engine.Result, error) {
	switch {
	case errors.Is(err, worker.ErrEncode):
		return nil, fmt.Errorf("job: %w", err)
	case errors.Is(err, errLeftover):
		return nil, err
	}
	f := r.failure(err)
	if r.replays && !r.reported && f.Kind != engine.KindStopped { // an earlier program is the cause
		f = &engine.Failure{Kind: engine.KindLost, Message: "the replay of earlier programs failed: " + f.Message}
	}
	if !r.heard && errors.Is(r.w.killed(), errUnused) { // something other than the host killed it
		if s, ok := signalOf(r.w.cmd.ProcessState); ok && s == syscall.SIGKILL {
			return &engine.Result{Failure: f}, errLost
		}
	}
	return &engine.Result{Failure: f}, nil
}

// failure returns the reason why a run has no result.
func (r *attempt) failure(err error) *engine.Failure {
	r.over.Store(true)
	if r.w.killed() == nil {
		r.w.disconnect(err)
	}
	switch cause := r.w.killed(); {
	case errors.Is(cause, errTimeout):
		return timedOut(r.job.Limits.Time)
	case errors.Is(cause, errStopped):
		return engine.Stopped()
	case errors.Is(cause, errUnread):
		return unread(cause)
	case errors.Is(cause, worker.ErrBreach):
		return &engine.Failure{Kind: engine.KindCrashed, Message: cause.Error()}
	}
	return diagnose(r.w.log.String(), r.w.cmd.ProcessState)
}

// limit returns the maximum length of a frame's body.
func (r *attempt) limit(k worker.Kind) int {
	output, argument := r.job.Limits.Output, r.job.Limits.Argument
	switch {
	case k == worker.KindReport:
		return min(maxFrame, frameMargin+sourceFactor*len(r.job.Source))
	case k == worker.KindCall && argument > 0: // a call has two arguments
		return frameMargin + 2*min(argument, worker.MaxBody/4) + turnSize*r.elements()
	case output <= 0, k == worker.KindCall:
		return maxFrame
	}
	return frameMargin + outputFactor*output + turnSize*r.elements()
}

// elements returns how many turns the worker may report, and how many tools that a session's program used.
func (r *attempt) elements() int {
	if !r.job.Recorded() {
		return 0
	}
	return engine.MaxTurns + 1 + len(r.job.Tools)
}

// checkTurns checks turns that the worker reports.
func (r *attempt) checkTurns(turns []engine.Turn) error {
	if r.turns += len(turns); r.turns > r.elements() {
		return breach("%d turns, but %d are allowed", r.turns, r.elements())
	}
	if err := engine.CheckTurns(turns, r.calls); err != nil {
		return breach("%v", err)
	}
	return nil
}

// startDeadline starts the timer that kills the worker if it does not end the run itself.
func (r *attempt) startDeadline() {
	limit := r.job.Limits.Time
	if limit <= 0 {
		return
	}
	if r.replays {
		limit *= 2
	}
	r.end = time.Now().Add(limit + gracePeriod)
	r.deadline = time.AfterFunc(limit+gracePeriod, func() { r.w.kill(errTimeout) })
}

// stop asks the worker to end the run, and kills it soon after that.
func (r *attempt) stop() {
	r.canceled.Store(true)
	time.AfterFunc(stopPeriod, func() { r.w.kill(errStopped) })
	_ = r.w.out.Send(worker.KindStop, r.id, nil)
}

// close makes the run drop late replies. It reports whether the connection has accepted everything that was
// sent to the worker.
func (r *attempt) close() bool {
	r.w.out.Lock()
	defer r.w.out.Unlock()
	r.over.Store(true)
	return r.w.box.empty()
}

// exchange sends the job and handles the worker's frames until the result arrives.
func (r *attempt) exchange() (*engine.Result, error) {
	// If the connection has failed, receive returns the error, after the frames that the worker sent before.
	if err := r.send(); errors.Is(err, worker.ErrEncode) || errors.Is(err, errUnread) {
		return nil, err
	}
	for {
		if res, err := r.receive(); res != nil || err != nil {
			return res, err
		}
	}
}

// send sends the job, and its tools if they differ from those of the last run.
func (r *attempt) send() error {
	out := r.w.out
	out.Lock()
	defer out.Unlock()
	if !engine.SameTools(r.w.tools, r.job.Tools) {
		if err := out.Add(worker.KindTools, r.id, r.job.Tools); err != nil {
			return err
		}
		r.w.tools = r.job.Tools
	}
	job, abridged := r.w.outgoing(r.job)
	r.abridged = abridged
	if err := out.Add(worker.KindRun, r.id, job); err != nil {
		return err
	}
	return out.Flush()
}

// receive handles one frame. If the frame contains the result, receive returns it.
func (r *attempt) receive() (*engine.Result, error) {
	f, err := r.w.in.Next()
	if err != nil {
		return nil, err
	}
	r.heard = true
	if f.Run < r.id && r.id > 1 && !r.reported {
		return nil, errLeftover
	}
	if f.Run != r.id {
		return nil, breach("frame %q of run %d in run %d", f.Kind, f.Run, r.id)
	}
	switch f.Kind {
	case worker.KindReport:
		return nil, r.report(f)
	case worker.KindCall:
		return nil, r.call(f)
	case worker.KindWaiting:
		return nil, r.wait(f)
	case worker.KindResult, worker.KindLast:
		r.last = f.Kind == worker.KindLast
		return r.result(f)
	}
	return nil, breach("unexpected frame %q", f.Kind)
}

func breach(format string, args ...any) error {
	return fmt.Errorf("%w: %s", worker.ErrBreach, fmt.Sprintf(format, args...))
}

// report passes the report to the host and sends the verdict if the worker waits for it.
func (r *attempt) report(f worker.Frame) error {
	if r.reported {
		return breach("a second report")
	}
	var rep engine.Report
	if err := f.DecodeUntrusted(&rep, arrayRoom+sourceFactor*len(r.job.Source)); err != nil {
		return err
	}
	for _, s := range rep.Sites {
		if s.Tool < -1 || s.Tool >= len(r.job.Tools) {
			return breach("a call site for tool %d, but the number of tools is %d", s.Tool, len(r.job.Tools))
		}
	}
	r.reported = true
	r.host.Report(rep)
	r.allowed = r.host.Allowed()
	if r.job.RunClean && rep.Clean() {
		return nil
	}
	if err := r.w.out.Send(worker.KindVerdict, r.id, r.allowed); errors.Is(err, errUnread) {
		return err
	}
	return nil
}

// call passes a tool call to the host.
func (r *attempt) call(f worker.Frame) error {
	var c engine.Call
	if err := f.DecodeUntrusted(&c, turnRoom*r.elements()); err != nil {
		return err
	}
	if err := r.checkTurns(c.Turns); err != nil {
		return err
	}
	switch {
	case !r.allowed:
		return breach("call %d, but the program was not allowed to run", c.ID)
	case c.ID != r.calls+1:
		return breach("call %d after call %d", c.ID, r.calls)
	case c.Tool < 0 || c.Tool >= len(r.job.Tools):
		return breach("a call to tool %d, but the number of tools is %d", c.Tool, len(r.job.Tools))
	}
	if r.calls++; r.isWaiting() {
		return breach("call %d while the program waits", c.ID)
	}
	if err := checkSize("argument", max(len(c.Args), len(c.More)), r.job.Limits.Argument); err != nil {
		return err
	}
	if r.canceled.Load() {
		if r.late++; r.late > lateCalls { // the worker ignores the request to stop
			r.w.kill(errStopped)
			return errStopped
		}
		return nil
	}
	r.host.Call(c, r.replyTo(c.ID))
	return nil
}

// result decodes and checks the result.
func (r *attempt) result(f worker.Frame) (*engine.Result, error) {
	var res *engine.Result
	if err := f.DecodeUntrusted(&res, arrayRoom+turnRoom*r.elements()); err != nil {
		return nil, err
	}
	switch {
	case res == nil:
		return nil, breach("no result")
	case res.Failure == nil && !r.allowed:
		return nil, breach("success, but the program was not allowed to run")
	case slices.ContainsFunc(res.Used, func(tool int) bool { return tool < 0 || tool >= len(r.job.Tools) }):
		return nil, breach("use of tools that do not exist")
	case min(res.Stdout.Bytes, res.Stderr.Bytes) < 0:
		return nil, breach("a negative length of output")
	}
	if err := errors.Join(r.checkTurns(res.Turns), r.checkFailure(res.Failure)); err != nil {
		return nil, err
	}
	return res, checkSize("value", len(res.Value), r.job.Limits.Output)
}

func (r *attempt) checkFailure(f *engine.Failure) error {
	if f == nil {
		return nil
	}
	_, known := failureKinds[f.Kind]
	switch {
	case !known:
		return breach("a failure of kind %.50q", f.Kind)
	case f.Kind == engine.KindStale && (r.reported || !r.abridged):
		return breach("a session or prelude that was sent is reported missing")
	case f.Call < 0 || f.Call > r.calls:
		return breach("a failure that names call %d, but %d calls were made", f.Call, r.calls)
	case slices.ContainsFunc(f.Calls, func(id int) bool { return id < 1 || id > r.calls }):
		return breach("a failure that names calls that were not made")
	}
	return nil
}

// minValue is a size that is always allowed: the engine does not apply the limit to null and {}.
const minValue = 4

// checkSize rejects a value that is longer than the engine allows.
func checkSize(what string, size, limit int) error {
	if limit > 0 && size > max(limit, minValue) {
		return breach("%s of %d bytes exceeds the limit of %d", what, size, limit)
	}
	return nil
}
