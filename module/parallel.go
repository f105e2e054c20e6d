package module

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module/internal/lm"
)

// ParallelOptions configures [Parallel] and [Samples]. The zero value and nil mean the defaults.
type ParallelOptions struct {
	// Workers is the maximum number of concurrent runs. If it is not positive, it is 8.
	Workers int

	// Collect lets the remaining runs continue after a run has failed. Otherwise the first error cancels the runs in
	// progress, and no further runs are started.
	Collect bool

	// Progress, if set, is called after each run with the number of finished runs, the number of those that failed, and
	// the total. Calls are not concurrent. Progress should return soon.
	Progress func(ended, failed, all int)
}

// Result is what one run returned.
type Result[Out any] struct {
	Prediction *Prediction[Out] // nil if there is an error
	Err        error
}

// Trajectory returns what the run did, even if it has no answer.
func (r Result[Out]) Trajectory() Trajectory {
	if r.Prediction != nil {
		return r.Prediction.Trajectory
	}
	if part := incompleteIn(r.Err); part != nil {
		return part.Trajectory
	}
	return Trajectory{}
}

// Parallel runs a module once for each input, several at the same time. Nil options mean the defaults.
//
// The results are in the order of the inputs, one for each input, even if there is an error. The error is nil if all
// runs have an answer. Otherwise it wraps the error from the run that failed first or, if runs failed because ctx was
// done, the error from the first of these runs in input order. With Collect, it wraps the errors from all runs. Once a
// model has been called, the error is an *[IncompleteError] with all runs in Trajectory.Runs, which your own module may
// return as its error. A run that panics, or returns neither a prediction nor an error, fails: see [Module].
func Parallel[In, Out any](
	ctx context.Context, m Module[In, Out], inputs []In, o *ParallelOptions,
) (results []Result[Out], err error) {
	defer rescue("Parallel", &err)
	return runAll(ctx, "inputs", len(inputs), o, func(ctx context.Context, g *recorder, i int) Result[Out] {
		return runIn(ctx, g, m, m, inputs[i])
	})
}

// Samples runs a module n times with the same input, up to 10,000 times. Each run uses a [Clone] of the module. The
// clone's Predictors have their own Rollout, so that a cache returns a different reply in each run, and a Temperature
// of 1 unless one is set. If the module has effects, every run has them. Results and errors are the same as for
// [Parallel]; an invalid n or a nil module is an error before the first run.
func Samples[In, Out any](
	ctx context.Context, m Module[In, Out], in In, n int, o *ParallelOptions,
) (results []Result[Out], err error) {
	defer rescue("Samples", &err)
	copies, err := rollouts(m, n)
	if err != nil {
		return nil, err
	}
	return runAll(ctx, "samples", n, o, func(ctx context.Context, g *recorder, i int) Result[Out] {
		return runIn(ctx, g, copies[i], m, in)
	})
}

// Run runs a module. The predictors in the trajectory, and in the events, have their paths in the module. A run that
// panics, or returns neither a prediction nor an error, fails: see [Module].
func Run[In, Out any](ctx context.Context, m Module[In, Out], in In) (*Prediction[Out], error) {
	if ctx == nil {
		return nil, errNoContext
	}
	r := runModule(ctx, m, in)
	return r.Prediction, r.Err
}

// runModule runs a module. The trajectory of the result holds everything that was done, even if the module does not
// return it.
func runModule[In, Out any](ctx context.Context, m Module[In, Out], in In) Result[Out] {
	return runIn(ctx, group(ctx), m, m, in)
}

// runIn is runModule with a group that records the run. The module may be a copy of original.
func runIn[In, Out any](ctx context.Context, g *recorder, m, original Module[In, Out], in In) Result[Out] {
	s := scopeOf(ctx)
	if checkModule(m) == nil {
		s = s.named(m, original)
	}
	s.run = g
	r := runSafely(s.in(ctx), m, in)
	switch all, recorded := r.Trajectory(), g.trajectory(); {
	case all.empty() && !recorded.empty():
		r = r.with(recorded)
	case !all.empty() && all.merge(recorded):
		r = r.with(all)
	}
	g.settle(r.Trajectory())
	return r
}

// with returns the result with t as its trajectory.
func (r Result[Out]) with(t Trajectory) Result[Out] {
	if r.Err != nil {
		return Result[Out]{Err: withTrajectory(r.Err, t)}
	}
	return Result[Out]{Prediction: &Prediction[Out]{Output: r.Prediction.Output, Trajectory: t.collapsed()}}
}

// runSafely runs a module. The result has either a prediction or an error, even if the module panics.
func runSafely[In, Out any](ctx context.Context, m Module[In, Out], in In) (r Result[Out]) {
	if m == nil {
		return Result[Out]{Err: errNoModule}
	}
	defer rescue(fmt.Sprintf("Run of %T", m), &r.Err)
	pred, err := m.Run(ctx, in)
	switch {
	case err != nil:
		return Result[Out]{Err: readable(fmt.Sprintf("Run of %T", m), err)}
	case pred == nil:
		return Result[Out]{Err: fmt.Errorf("module: %T returned neither a prediction nor an error", m)}
	}
	return Result[Out]{Prediction: pred}
}

// batch is the state shared by several concurrent runs.
type batch[Out any] struct {
	ParallelOptions
	results []Result[Out]
	kind    string // what errors call the runs: "inputs" or "samples"
	stop    context.CancelFunc

	mu            sync.Mutex
	ended, failed int
	first         int   // the run that failed first
	broken        error // the panic of Progress, or nil
}

// runAll makes n runs, at most Workers of them at the same time.
func runAll[Out any](
	ctx context.Context, kind string, n int, o *ParallelOptions, run func(context.Context, *recorder, int) Result[Out],
) ([]Result[Out], error) {
	if ctx == nil {
		return slices.Repeat([]Result[Out]{{Err: errNoContext}}, n), errNoContext
	}
	caller := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	b := &batch[Out]{results: make([]Result[Out], n), kind: kind, stop: stop}
	if o != nil {
		b.ParallelOptions = *o
	}
	if b.Workers <= 0 {
		b.Workers = 8
	}
	var running sync.WaitGroup
	workers := make(chan struct{}, min(b.Workers, n))
	for i := range n {
		workers <- struct{}{}
		g := group(ctx) // not in the goroutine, so that the groups are in the order of the inputs
		running.Go(func() {
			defer func() { <-workers }()
			defer b.end(i) // also if the run calls runtime.Goexit
			b.results[i].Err = errNoReturn
			if ctx.Err() != nil {
				b.results[i].Err = fmt.Errorf("module: the run was not started: %w", lm.ContextError(ctx))
			} else {
				b.results[i] = run(durable.Branch(ctx, i), g, i)
			}
		})
	}
	running.Wait()
	if ended := caller.Err(); ended != nil && b.failed > 0 && errors.Is(b.results[b.first].Err, ended) {
		// Which run first notices that the context is done is random: report the first in the order of the inputs.
		b.first = slices.IndexFunc(b.results, func(r Result[Out]) bool { return errors.Is(r.Err, ended) })
	}
	return b.results, b.err()
}

// end counts a run that has ended. If Progress panics, end cancels the remaining runs.
func (b *batch[Out]) end(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			b.broken = fmt.Errorf("module: %w", lm.NewPanic("Progress", p))
			b.stop()
		}
	}()
	b.ended++
	if b.results[i].Err != nil {
		if b.failed++; b.failed == 1 {
			b.first = i
		}
		if !b.Collect && !errors.Is(b.results[i].Err, place.ErrPaused) { // a paused run does not disturb the others
			b.stop()
		}
	}
	if b.Progress != nil {
		b.Progress(b.ended, b.failed, len(b.results))
	}
}

// err returns an error with all runs' trajectories, or nil if all runs have answers.
func (b *batch[Out]) err() error {
	if b.failed == 0 && b.broken == nil {
		return nil
	}
	err := b.reason()
	var all Trajectory
	for _, r := range b.results {
		if t := r.Trajectory(); !t.empty() {
			all.Runs = append(all.Runs, t)
		}
	}
	if len(all.Runs) == 0 {
		return &failures{"module: " + bare(err), []error{err}}
	}
	all.Err = err
	return &IncompleteError{Err: err, Trajectory: all, batch: true}
}

func (b *batch[Out]) reason() error {
	if b.broken != nil {
		return b.broken
	}
	err := b.results[b.first].Err
	first := fmt.Sprintf("%s[%d]: %s", b.kind, b.first, bare(err))
	if !b.Collect {
		return &failures{first, []error{err}}
	}
	text := fmt.Sprintf("%d of %s failed; the first was %s", b.failed, plural(len(b.results), "run"), first)
	all := &failures{text: text}
	for _, r := range b.results {
		if r.Err != nil {
			all.errs = append(all.errs, r.Err)
		}
	}
	return all
}
