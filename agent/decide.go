package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/internal/canonical"
)

// Errors of a [Runner]. They may be wrapped.
var (
	// ErrInput is returned for an ID, an input or a decision that is invalid.
	ErrInput = errors.New("invalid input")

	// ErrConflict is returned if the state of a run does not allow the request, or if the ID of a new run is in use.
	ErrConflict = errors.New("conflict")

	// ErrNotWaiting is returned for a decision on a call that does not wait for one.
	ErrNotWaiting = errors.New("no such call waits for a decision")

	// ErrDecided is returned for a decision that differs from the one that was recorded.
	ErrDecided = errors.New("another decision is recorded already")
)

var errCancelled = errors.New("agent: the run was cancelled")

// Decide answers one of the calls for which a run waits, by the call's [Waiting].ID, and lets the run go on. When
// Decide returns nil, the decision is recorded. The run may be in progress, because another call was decided on: it
// then goes on with the decision when it pauses.
//
// The same decision again is no error, whoever makes it; a different one is [ErrDecided]. Decision.Round must be that
// of the [Waiting], so that an old decision, sent again, does not count for a new question about the same call. If the
// call does not wait, the error is [ErrNotWaiting].
func (r *Runner) Decide(ctx context.Context, id, call string, d Decision) error {
	_, err := r.visit(ctx, id, nil, func(owned *run, info RunInfo) error { return owned.answer(info, call, d) })
	return err
}

// answer records a decision on one call. The caller holds the lock.
func (r *run) answer(info RunInfo, call string, d Decision) error {
	i := slices.IndexFunc(info.Waiting, func(w Waiting) bool { return w.ID == call && w.Round == d.Round })
	switch given := r.given[call]; {
	case i < 0 && d.Round >= 0 && d.Round < len(given) && given[d.Round].Decision.same(d):
	case i < 0 && d.Round >= 0 && d.Round < len(given):
		return fmt.Errorf("agent: run %s, call %.200s: %w", r.id, call, ErrDecided)
	case i < 0:
		return fmt.Errorf("agent: run %s, call %.200s, round %d: %w", r.id, call, d.Round, ErrNotWaiting)
	default:
		if err := d.check(info.Waiting[i]); err != nil {
			return fmt.Errorf("agent: %w: the decision on %s: %w", ErrInput, info.Waiting[i], err)
		}
		if err := r.decide(info.Waiting[i], d); err != nil {
			return err
		}
		delete(r.still, call)
	}
	switch {
	case len(r.answered) == 0: // an old decision was repeated
	case info.State == Running:
		r.again = true
	case info.State == Paused || info.State == Interrupted:
		return r.queue()
	}
	return nil
}

// queue records that the run must go on. The caller holds the lock.
func (r *run) queue() error {
	info, err := r.describe()
	if err == nil && info.State != Queued {
		err = r.record(milestone{State: Queued, Waiting: info.Waiting})
	}
	return err
}

// same reports whether two decisions differ at most in who made them.
func (d *Decision) same(other Decision) bool {
	one := *d
	one.By, other.By = "", ""
	a, err := json.Marshal(one)
	b, bad := json.Marshal(other)
	return err == nil && bad == nil && canonical.Equal(a, b)
}

// Resume lets a run go on that was interrupted, has failed, or was stopped by [Runs.Pause]. It does nothing if the run
// is queued or in progress. If the run waits for decisions or has ended, the error wraps [ErrConflict].
func (r *Runner) Resume(ctx context.Context, id string) error {
	if err := r.stopped(); err != nil {
		return err
	}
	_, err := r.visit(ctx, id, nil, func(owned *run, info RunInfo) error {
		switch {
		case info.State == Running:
			return nil
		case info.State == Paused && len(info.Waiting) > 0:
			return fmt.Errorf("agent: %w: run %s waits for decisions; make them", ErrConflict, id)
		case slices.Contains([]RunState{Done, Cancelled, RolledBack}, info.State):
			return fmt.Errorf("agent: %w: run %s is %s; start a new run", ErrConflict, id, info.State)
		case info.State == Failed:
			if err := owned.replies.RetryFailures(); err != nil {
				return err
			}
		}
		return owned.queue()
	})
	return err
}

// Cancel ends a run for good: its state is then [Cancelled]. Cancel waits until the run is no longer in progress. It
// does nothing if the run is cancelled already. If the run has an answer or was rolled back, the error wraps
// [ErrConflict]. Effects are not undone; see [Runs.Rollback].
func (r *Runner) Cancel(ctx context.Context, id string) error {
	_, err := r.visit(ctx, id, nil, func(owned *run, info RunInfo) error {
		switch info.State {
		case Cancelled:
			return nil
		case Done, RolledBack:
			return fmt.Errorf("agent: %w: run %s is %s", ErrConflict, id, info.State)
		}
		err := owned.record(milestone{State: Cancelled})
		owned.over = err == nil
		return err
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	if j := r.jobs[id]; j != nil && j.cancel != nil {
		j.cancel(errCancelled)
	} else if j != nil && j.leave() {
		j.info.State = Cancelled
		r.finish(j)
	}
	r.mu.Unlock()
	_, err = r.Wait(ctx, id)
	return err
}
