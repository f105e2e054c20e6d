package module

import (
	"context"
	"slices"
	"sync"
)

// runLog is what the modules did that were run within a context, each once: those
// that these ran themselves are part of them.
type runLog struct {
	meter *meter // of all that was paid

	mu   sync.Mutex
	runs []loggedRun
}

type loggedRun struct {
	id   uint64
	what Trajectory
}

// logged returns a context with a log of its own.
func logged(ctx context.Context) (context.Context, *runLog) {
	l := &runLog{meter: &meter{outer: observerOf(ctx).meter}}
	return observe(ctx, observer{log: l, meter: l.meter}), l
}

// add puts down what a run did. A nil log keeps nothing.
func (l *runLog) add(id uint64, t Trajectory) {
	if l == nil || t.empty() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs, loggedRun{id, t})
}

// forget takes out what a run said before.
func (l *runLog) forget(id uint64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = slices.DeleteFunc(l.runs, func(r loggedRun) bool { return r.id == id })
}

func (l *runLog) list() []Trajectory {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Trajectory
	for _, r := range l.runs {
		list = append(list, r.what)
	}
	return list
}

// trajectory is all of it.
func (l *runLog) trajectory() Trajectory {
	t := Trajectory{Runs: l.list()}
	t.settle(l.meter.total())
	return t
}

// whole is what a module returned, with what it left out. One that is made of
// others may return the account of a part as that of all.
func whole[Out any](l *runLog, r Result[Out]) Result[Out] {
	did, told := l.trajectory(), r.Trajectory()
	left := did.Usage()
	left.sub(told.Usage())
	acted := did.acted() && !told.acted()
	switch {
	case left == Usage{} && !acted:
	case r.Prediction == nil:
		r.Err = accounted(r.Err, did)
	default:
		pred := *r.Prediction // which the module may return again
		if acted {
			left.sub(pred.Trajectory.join(did.Runs))
		}
		pred.Trajectory.Spent.add(left)
		r.Prediction = &pred
	}
	return r
}

// join adds those of some runs that have acted, and returns what they cost.
func (t *Trajectory) join(runs []Trajectory) (cost Usage) {
	t.Runs = slices.Clone(t.Runs)
	for _, run := range runs {
		if run.acted() {
			cost.add(run.Usage())
			t.Runs = append(t.Runs, run)
		}
	}
	return cost
}

// accounted is an error with the account of all that was done. What is there
// already is said once; effects that are not were made with another context.
func accounted(err error, t Trajectory) error {
	if part, direct := err.(*IncompleteError); direct && part != nil {
		err = part.Err
		if part.MayHaveActed() && !t.acted() {
			t.did(part.Trajectory)
		}
	}
	t.Err = err
	return &IncompleteError{Err: err, Trajectory: t}
}
