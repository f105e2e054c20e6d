package module

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ParallelOptions says how many runs go on at once. The zero value, and nil, are
// the defaults.
type ParallelOptions struct {
	// Workers is how many runs there are at the same time. Zero, or less, is 8.
	Workers int

	// Collect goes on after a run has failed. Otherwise the first error cancels
	// the runs under way, and the rest are not begun.
	Collect bool

	// Progress, if set, is told after each run how many have ended, how many of
	// these without an answer, and how many there are. It is not called
	// concurrently, and should return soon.
	Progress func(ended, failed, all int)
}

// Result is what came of one run.
type Result[Out any] struct {
	Prediction *Prediction[Out] // nil if there is an error
	Err        error
}

// Trajectory returns what the run did, also if it came to no answer.
func (r Result[Out]) Trajectory() Trajectory {
	if r.Prediction != nil {
		return r.Prediction.Trajectory
	}
	if part := partOf(r.Err); part != nil {
		return part.Trajectory
	}
	return Trajectory{}
}

// Results are what came of several runs.
type Results[Out any] []Result[Out]

// Predictions returns the answers there are.
func (r Results[Out]) Predictions() []*Prediction[Out] {
	var list []*Prediction[Out]
	for _, result := range r {
		if result.Err == nil {
			list = append(list, result.Prediction)
		}
	}
	return list
}

// Usage is what all of it cost together, failures included.
func (r Results[Out]) Usage() Usage {
	var u Usage
	for _, result := range r {
		u.add(result.Trajectory().Usage())
	}
	return u
}

// Parallel runs a module once for each input, several at the same time. Nil
// options are the defaults.
//
// There is one result for each input, in the order of the inputs, also beside an
// error. The error is nil if all of them are answers. Otherwise it wraps that of
// the run that failed first, or of the first in order if ctx ended them; with
// Collect it wraps those of all that failed. Once a model was asked it is an
// *[IncompleteError], whose Trajectory.Runs are all the runs: a module of yours may
// return it as its own. A run that panics, or returns neither a prediction nor an
// error, has failed: see [Module].
func Parallel[In, Out any](ctx context.Context, m Module[In, Out], inputs []In, o *ParallelOptions) (results Results[Out], err error) {
	defer rescue("Parallel", &err)
	return runAll(ctx, "inputs", len(inputs), o, func(ctx context.Context, g *recorder, i int) Result[Out] {
		return resultIn(ctx, g, m, m, inputs[i])
	})
}

// Samples asks a module n times the same, as [Parallel] asks different things.
// Each run is one of a [Clone] whose Predictors have a Rollout of their own, so
// that a cache gives different replies, and, unless they have one, a Temperature
// of 1. A module with effects performs them n times. There may be 10,000 samples.
// The results and the error are those of Parallel; a number of samples that is not
// positive, or too large, and a module that is nil are errors before any run.
func Samples[In, Out any](ctx context.Context, m Module[In, Out], in In, n int, o *ParallelOptions) (results Results[Out], err error) {
	defer rescue("Samples", &err)
	copies, err := copies(m, n)
	if err != nil {
		return nil, err
	}
	return runAll(ctx, "samples", n, o, func(ctx context.Context, g *recorder, i int) Result[Out] {
		return resultIn(ctx, g, copies[i], m, in)
	})
}

// resultFrom runs a module, and holds it to its contract: it accounts for everything that
// was done.
func resultFrom[In, Out any](ctx context.Context, m Module[In, Out], in In) Result[Out] {
	return resultIn(ctx, group(ctx), m, m, in)
}

// resultIn does so in a group, with a module that may be a copy of original.
func resultIn[In, Out any](ctx context.Context, g *recorder, m, original Module[In, Out], in In) Result[Out] {
	s := scopeOf(ctx)
	if missing(m) == nil {
		s = s.named(m, original)
	}
	s.run = g
	r := answerOf(s.in(ctx), m, in)
	switch all, recorded := r.Trajectory(), g.trajectory(); {
	case all.empty() && !recorded.empty():
		r = r.with(recorded)
	case !all.empty() && all.add(recorded):
		r = r.with(all)
	}
	g.settle(r.Trajectory())
	return r
}

// with returns the result with another account of what was done.
func (r Result[Out]) with(t Trajectory) Result[Out] {
	if r.Err != nil {
		return Result[Out]{Err: withAll(r.Err, t)}
	}
	return Result[Out]{Prediction: &Prediction[Out]{Output: r.Prediction.Output, Trajectory: t.collapsed()}}
}

// answerOf runs a module that returns, without a panic, either a prediction or an
// error.
func answerOf[In, Out any](ctx context.Context, m Module[In, Out], in In) (r Result[Out]) {
	if m == nil {
		return Result[Out]{Err: errNoModule}
	}
	defer rescue(fmt.Sprintf("Run of %T", m), &r.Err)
	pred, err := m.Run(ctx, in)
	switch {
	case err != nil:
		return Result[Out]{Err: sound(fmt.Sprintf("Run of %T", m), err)}
	case pred == nil:
		return Result[Out]{Err: fmt.Errorf("module: %T returned neither a prediction nor an error", m)}
	}
	return Result[Out]{Prediction: pred}
}

var errNoModule = errors.New("module: there is no module; pass one")

// batch is what several runs at the same time have come to.
type batch[Out any] struct {
	ParallelOptions
	results Results[Out]
	of      string // what they are runs of
	stop    context.CancelFunc

	mu            sync.Mutex
	ended, failed int
	first         int   // of those that failed
	broken        error // a panic of Progress
}

// runAll runs from 0 to n, no more at the same time than there are workers.
func runAll[Out any](ctx context.Context, of string, n int, o *ParallelOptions, run func(context.Context, *recorder, int) Result[Out]) (Results[Out], error) {
	if ctx == nil {
		return slices.Repeat(Results[Out]{{Err: errNoContext}}, n), errNoContext
	}
	caller := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	b := &batch[Out]{results: make(Results[Out], n), of: of, stop: stop}
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
		g := group(ctx) // here, so that they are in the order of the inputs
		running.Go(func() {
			defer func() { <-workers }()
			defer b.end(i) // also after a Goexit
			b.results[i].Err = errNoReturn
			if ctx.Err() != nil {
				b.results[i].Err = fmt.Errorf("module: not begun: %w", over(ctx))
			} else {
				b.results[i] = run(ctx, g, i)
			}
		})
	}
	running.Wait()
	b.inOrder(caller.Err())
	return b.results, b.err()
}

// inOrder makes the first of the runs that their caller has ended the one that is told.
// Which of them noticed first is chance.
func (b *batch[Out]) inOrder(ended error) {
	of := func(r Result[Out]) bool { return errors.Is(r.Err, ended) }
	if ended != nil && b.failed > 0 && of(b.results[b.first]) {
		b.first = slices.IndexFunc(b.results, of)
	}
}

// end counts a run that has ended. A panic of Progress ends the others.
func (b *batch[Out]) end(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			b.broken = fmt.Errorf("module: %w", newPanic("Progress", p))
			b.stop()
		}
	}()
	b.ended++
	if b.results[i].Err != nil {
		if b.failed++; b.failed == 1 {
			b.first = i
		}
		if !b.Collect {
			b.stop()
		}
	}
	if b.Progress != nil {
		b.Progress(b.ended, b.failed, len(b.results))
	}
}

// err is an error if not all are answers. It accounts for all that was done, for
// those who return it as their own.
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
	first := fmt.Sprintf("%s[%d]: %s", b.of, b.first, bare(err))
	if !b.Collect {
		return &failures{first, []error{err}}
	}
	all := &failures{text: fmt.Sprintf("%d of %s failed; the first was %s", b.failed, plural(len(b.results), "run"), first)}
	for _, r := range b.results {
		if r.Err != nil {
			all.errs = append(all.errs, r.Err)
		}
	}
	return all
}
