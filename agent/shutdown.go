package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/tools/journal"
)

// Recover queues the runs that are queued or interrupted, according to the store, because their process has ended. Call
// it when the process starts. It leaves out runs that another process has in progress, and those that are paused, have
// failed or have ended. The error joins those of runs that cannot be read; the others are queued all the same.
func (r *Runner) Recover(ctx context.Context) error {
	if err := r.stopped(); err != nil {
		return err
	}
	ids, err := r.runs.store.Runs(ctx)
	for _, id := range ids {
		var info RunInfo
		bad := r.alone(ctx, id, func(owned *run) (err error) {
			owned.mu.Lock()
			defer owned.mu.Unlock()
			if info, err = r.describe(owned); err == nil && info.State == Paused && len(owned.answered) > 0 {
				info.State = Queued // the process ended just after it had recorded a decision
				err = owned.queue()
			}
			return err
		})
		switch {
		case errors.Is(bad, journal.ErrInUse), errors.Is(bad, ErrNoRun):
		case bad != nil:
			err = errors.Join(err, bad)
		case info.State == Queued || info.State == Interrupted:
			r.enqueue(info)
		}
	}
	return err
}

// Shutdown takes no new runs, and lets the runs in progress end. When half of the time until the deadline of ctx is over,
// it pauses the rest, and when ctx is done, it cancels them. Runs that have not ended, and those that were queued, remain
// queued in the store, for [Runner.Recover]. The error names runs that did not stop; they are interrupted when the
// process ends.
func (r *Runner) Shutdown(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	var rest []*job
	for _, j := range r.jobs {
		if j.run == nil && j.leave() {
			r.finish(j)
		} else {
			rest = append(rest, j)
		}
	}
	r.mu.Unlock()
	half, cancel := ctx, func() {}
	if deadline, ok := ctx.Deadline(); ok {
		half, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	defer cancel()
	rest = unfinished(half, rest)
	r.each(rest, func(j *job) { j.run.stop() })
	rest = unfinished(ctx, rest)
	r.each(rest, func(j *job) { j.cancel(queue.ErrStopped) })
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastMoment)
	defer cancel()
	var names []string
	for _, j := range unfinished(last, rest) {
		names = append(names, j.info.ID)
	}
	if len(names) > 0 {
		return fmt.Errorf("agent: runs did not stop: %s", strings.Join(names, ", "))
	}
	return nil
}

// lastMoment is the time that canceled runs have to end at a shutdown.
const lastMoment = 2 * time.Second

// unfinished waits until all jobs are done or ctx is done, and returns those that are not done.
func unfinished(ctx context.Context, jobs []*job) []*job {
	return slices.DeleteFunc(jobs, func(j *job) bool {
		select {
		case <-j.done:
		case <-ctx.Done():
		}
		select {
		case <-j.done:
			return true
		default:
			return false
		}
	})
}

// each calls f for the jobs that are in progress.
func (r *Runner) each(jobs []*job, f func(*job)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range jobs {
		if j.run != nil {
			f(j)
		}
	}
}

// stop pauses the run, so that it goes on later.
func (r *run) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = true
	r.pausing.Store(true)
}
