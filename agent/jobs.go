package agent

import (
	"context"
	"errors"
	"time"

	"github.com/writ-go/writ/tools/journal"
)

// job is a run that is queued or in progress in this process. The lock of the Runner guards it.
type job struct {
	info     RunInfo       // when it was queued, without the input
	done     chan struct{} // closed when the run is neither queued nor in progress
	leave    func() bool   // leaves the queue, unless the turn of the run has come
	failures int           // how often the store has failed in a row

	run    *run // if it is in progress
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when it is no longer in progress

	events *runEvents // nil until somebody reads them, or the run is in progress
}

// ending returns a channel that is closed when a job is done. It is nil if there is no job.
func (j *job) ending() <-chan struct{} {
	if j == nil {
		return nil
	}
	return j.done
}

// current returns the run in progress, or nil, and a channel that is closed when it has ended.
func (j *job) current() (*run, <-chan struct{}) {
	if j == nil {
		return nil, nil
	}
	return j.run, j.ended
}

func (j *job) watch() *runEvents {
	if j.events == nil {
		j.events = &runEvents{attempt: -1}
		j.events.state(j.info, false)
	}
	return j.events
}

// enqueue makes a run wait for its turn, unless it does, or is in progress. After [Runner.Shutdown], the run remains
// queued in the store.
func (r *Runner) enqueue(info RunInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.jobs[info.ID] != nil {
		return
	}
	info.Input = nil
	j := &job{info: info, done: make(chan struct{})}
	if r.wait(j) {
		r.jobs[info.ID] = j
	}
}

// wait makes a job wait for its turn. It returns false if the queue has stopped. The caller holds the lock.
func (r *Runner) wait(j *job) bool {
	leave, err := r.options.Queue.Go(j.info.Principal, func(ctx context.Context) error { return r.turn(ctx, j) })
	j.leave = leave
	return err == nil
}

// turn makes an attempt at a run whose turn has come.
func (r *Runner) turn(ctx context.Context, j *job) error {
	info, err := r.attempt(ctx, j)
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.ended != nil {
		close(j.ended)
	}
	j.run, j.cancel, j.ended = nil, nil, nil
	info.Input = nil
	j.info = info
	failed := err != nil && info.State == Interrupted
	if failed {
		r.options.Logger.Error("agent: a run could not go on", "run", info.ID, "error", err)
	}
	switch {
	case !r.closed && info.State == Queued && r.wait(j):
		j.failures = 0
	case !r.closed && failed && j.failures < maxFailures:
		r.retry(j)
	default:
		r.finish(j)
		return err
	}
	if j.events != nil {
		j.events.state(j.info, false)
	}
	return err
}

// maxFailures is how often a job is tried again in a row, after 1, 2, 4, … seconds. After that, it is left to
// [Runner.Recover] and [Runner.Resume].
const maxFailures = 8

// retry lets a job wait again later, because the store has failed. The caller holds the lock.
func (r *Runner) retry(j *job) {
	j.leave = func() bool { return true }
	time.AfterFunc(time.Second<<j.failures, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.jobs[j.info.ID] == j && !r.wait(j) {
			r.finish(j)
		}
	})
	j.failures++
}

// finish ends a job. The caller holds the lock.
func (r *Runner) finish(j *job) {
	if j.events != nil {
		j.events.state(j.info, true)
	}
	delete(r.jobs, j.info.ID)
	close(j.done)
}

// attempt runs a run until it ends or pauses, and returns its description. Another process may have run it meanwhile. If
// the store fails, the run is interrupted.
func (r *Runner) attempt(ctx context.Context, j *job) (info RunInfo, err error) {
	info = j.info
	owned, err := r.own(ctx, info.ID)
	if err != nil {
		if info.State = Interrupted; errors.Is(err, journal.ErrInUse) {
			info.State = Running
		}
		return info, err
	}
	defer owned.close()
	if info, err = owned.info(); err != nil || info.State != Queued && info.State != Interrupted || r.stopped() != nil {
		return info, err
	}
	owned.managed = true
	if err := owned.goOn(); err != nil {
		info.State = Interrupted
		return info, err
	}
	if info, err = owned.info(); err != nil {
		return info, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if events := r.begin(j, owned, cancel); events != nil {
		events.state(info, false)
		err = r.run(ctx, owned, info, events.add)
	}
	owned.interrupt()
	info, bad := owned.info()
	return info, errors.Join(err, bad)
}

// begin records that a job is in progress. After [Runner.Shutdown], it returns nil.
func (r *Runner) begin(j *job, owned *run, cancel context.CancelCauseFunc) *runEvents {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	j.run, j.cancel, j.ended = owned, cancel, make(chan struct{})
	return j.watch()
}

// interrupt ends a run in progress whose end could not be recorded.
func (r *run) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// own becomes the owner of a run. It waits a moment for others that only look at the run.
func (r *Runner) own(ctx context.Context, id string) (owned *run, err error) {
	for range 50 {
		lock := r.lock(id)
		owned, err = r.runs.open(ctx, id)
		lock.Unlock()
		if !errors.Is(err, journal.ErrInUse) {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return owned, err
}

// end cancels a run whose cancellation is recorded, and waits until it is no longer in progress.
func (r *Runner) end(ctx context.Context, id string) error {
	r.mu.Lock()
	j := r.jobs[id]
	switch {
	case j == nil:
		r.mu.Unlock()
		return nil
	case j.cancel != nil:
		j.cancel(errCancelled)
	case j.leave():
		j.info.State = Cancelled
		r.finish(j)
	}
	r.mu.Unlock()
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
