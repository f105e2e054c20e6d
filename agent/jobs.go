package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/tools/journal"
)

// job is a run that is queued or in progress in this process. The lock of the Runner guards it.
type job struct {
	info   RunInfo       // when it was queued, without the input
	done   chan struct{} // closed when the run is neither queued nor in progress
	leave  func() bool   // leaves the queue, unless the turn of the run has come
	run    *run          // if it is in progress
	cancel context.CancelCauseFunc
	events *runEvents // nil until somebody reads them, or the run is in progress
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
	info.Input = nil
	j := &job{info: info, done: make(chan struct{})}
	if !r.closed && r.jobs[info.ID] == nil && r.wait(j) {
		r.jobs[info.ID] = j
	}
}

// wait makes a job wait for its turn. It returns false if the queue has stopped. The caller holds the lock.
func (r *Runner) wait(j *job) bool {
	leave, err := r.options.Queue.Go(j.info.Principal, func(ctx context.Context) error { return r.turn(ctx, j) })
	j.leave = leave
	return err == nil
}

// finish ends a job. The caller holds the lock.
func (r *Runner) finish(j *job) {
	if j.events != nil {
		j.events.state(j.info, true)
	}
	delete(r.jobs, j.info.ID)
	close(j.done)
	if r.closed && len(r.jobs) == 0 {
		close(r.none)
	}
}

// retryAfter is when a run is tried again that another process has, or for which the store has failed.
const retryAfter = 5 * time.Second

// turn makes an attempt at a run whose turn has come.
func (r *Runner) turn(ctx context.Context, j *job) error {
	info, err := r.attempt(ctx, j)
	info.Input = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	j.run, j.cancel, j.info = nil, nil, info
	if err != nil && info.State == Interrupted {
		if !errors.Is(err, journal.ErrInUse) {
			r.options.Logger.Error("agent: a run could not go on; it is tried again", "run", info.ID, "error", err)
		}
		time.AfterFunc(retryAfter, func() { r.enqueue(info) })
	}
	if info.State != Queued || r.closed || !r.wait(j) {
		r.finish(j)
	} else if j.events != nil {
		j.events.state(info, false)
	}
	return err
}

// attempt runs a run until it ends or pauses, and returns its description. Another process may have run it meanwhile.
// If the store fails, or another process has the run, the run is interrupted.
func (r *Runner) attempt(ctx context.Context, j *job) (info RunInfo, err error) {
	info = j.info
	lock := r.lock(info.ID)
	owned, err := r.runs.open(ctx, info.ID)
	lock.Unlock()
	if err != nil {
		info.State = Interrupted
		return info, err
	}
	defer owned.close()
	if info, err = owned.info(); err != nil || info.State != Queued && info.State != Interrupted || r.stopped() != nil {
		return info, err
	}
	owned.managed = true
	if info, err = owned.goOn(); err != nil {
		info.State = Interrupted
		return info, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return owned.left()
	}
	j.run, j.cancel = owned, cancel
	events := j.watch()
	r.mu.Unlock()
	events.state(info, false)
	err = r.run(ctx, owned, info, events.add)
	info, bad := owned.left()
	return info, errors.Join(err, bad)
}

// Recover queues the runs that are queued or interrupted, according to the store, because their process has ended. Call
// it when the process starts. It leaves out runs that another process has in progress, and those that are paused, have
// failed or have ended. The error joins those of runs that cannot be read; the others are queued all the same.
func (r *Runner) Recover(ctx context.Context) error {
	ids, err := r.runs.store.Runs(ctx)
	for _, id := range ids {
		_, bad := r.visit(ctx, id, nil, func(owned *run, info RunInfo) error {
			// If it is paused with a decision, the process ended just after it had recorded the decision.
			if info.State == Interrupted || info.State == Paused && len(owned.answered) > 0 {
				return owned.queue()
			}
			return nil
		})
		if !errors.Is(bad, journal.ErrInUse) && !errors.Is(bad, ErrNoRun) {
			err = errors.Join(err, bad)
		}
	}
	return err
}

// Shutdown takes no new runs, and lets the runs in progress end. When half of the time until the deadline of ctx is
// over, it pauses the rest, and when ctx is done, it cancels them. Runs that have not ended, and those that were
// queued, remain queued in the store, for [Runner.Recover]. The error names runs that did not stop; they are
// interrupted when the process ends.
func (r *Runner) Shutdown(ctx context.Context) error {
	half, cancel := ctx, func() {}
	if deadline, ok := ctx.Deadline(); ok {
		half, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	defer cancel()
	r.close()
	for _, step := range []struct {
		until context.Context
		do    func(*job)
	}{{half, (*job).stop}, {ctx, func(j *job) { j.cancel(queue.ErrStopped) }}} {
		select {
		case <-r.none:
			return nil
		case <-step.until.Done():
		}
		r.mu.Lock()
		for _, j := range r.jobs {
			if j.run != nil {
				step.do(j)
			}
		}
		r.mu.Unlock()
	}
	select {
	case <-r.none:
		return nil
	case <-time.After(2 * time.Second):
		r.mu.Lock()
		defer r.mu.Unlock()
		return fmt.Errorf("agent: runs did not stop: %v", slices.Sorted(maps.Keys(r.jobs)))
	}
}

// close takes no new runs, and drops those that are queued.
func (r *Runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed && len(r.jobs) == 0 {
		close(r.none)
	}
	r.closed = true
	for _, j := range r.jobs {
		if j.run == nil && j.leave() {
			r.finish(j)
		}
	}
}

// stop pauses the run, so that it goes on later.
func (j *job) stop() {
	j.run.mu.Lock()
	defer j.run.mu.Unlock()
	j.run.stopping = true
	j.run.pausing.Store(true)
}
