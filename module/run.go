package module

import (
	"context"
	"encoding/json"
)

// Module answers questions. Every module of this package is one, and so is any
// type of yours that has this method, such as a struct of modules. What it
// returns beside an error is nil.
type Module[In, Out any] interface {
	Run(ctx context.Context, in In) (*Prediction[Out], error)
}

// run is one run of a module: what it has done, and who is told of it.
type run struct {
	Trajectory
	source
	predictor *Predictor
	opening   []message
}

// newRun begins a run of a module that asks one predictor. The context is for
// all that happens within.
func newRun(ctx context.Context, module string, p *Predictor, q question) (context.Context, *run, error) {
	opening, err := p.opening(q)
	if err != nil {
		return nil, nil, err
	}
	ctx, from := newSource(ctx, module, p.onEvent)
	return ctx, &run{source: from, predictor: p, opening: opening}, nil
}

// ask begins a step: the model says something.
func (r *run) ask(ctx context.Context) error {
	step, err := r.predictor.say(ctx, &r.source, len(r.Steps)+1, r.conversation(r.opening))
	r.Steps = append(r.Steps, step)
	return err
}

// incomplete ends the run without an answer.
func (r *run) incomplete(err error) error {
	r.emit(Failed{r.at(0), err})
	return &IncompleteError{Err: err, Trajectory: r.Trajectory}
}

// answered ends a run with its answer.
func answered[Out any](r *run, out Out, raw json.RawMessage) *Prediction[Out] {
	r.emit(Answered{r.at(0), raw})
	return &Prediction[Out]{Output: out, Trajectory: r.Trajectory}
}
