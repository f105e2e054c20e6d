package module

import (
	"context"
	"encoding/json"

	"github.com/writ-go/writ/tools/journal"
)

// Module answers questions. Every module of this package is one, and so is any
// type of yours that has this method, such as a struct of modules. What it
// returns beside an error is nil.
//
// Run of the modules of this package does not panic. If something that it was
// given does, such as an adapter, a reward or an observer, that is the reason of
// its error, a *[PanicError]. A panic of a module of yours is made such an error
// by whatever runs it: [Start], [Parallel], [Samples] and modules made of modules.
type Module[In, Out any] interface {
	Run(ctx context.Context, in In) (*Prediction[Out], error)
}

// run is one run of a module: what it has done, and who is told of it.
type run struct {
	Trajectory
	source
	predictor *Predictor
	opening   []message
	journal   *journal.Journal // of modules that call tools; or nil
	ran       runLog           // modules that tools and programs ran
	forgotten int              // steps that are left out of the conversation, the oldest
}

// newRun begins a run of a module that asks one predictor. The context is for
// all that happens within.
func newRun(ctx context.Context, module string, p *Predictor, q question) (context.Context, *run, error) {
	if ctx == nil {
		return nil, nil, errNoContext
	}
	opening, err := p.opening(q)
	if err != nil {
		return nil, nil, err
	}
	ctx, from := newSource(ctx, module, p.onEvent)
	return ctx, &run{source: from, predictor: p, opening: opening}, nil
}

// withTools returns the context for tools and programs: what modules do in there is
// part of the run, and what tools do is recorded.
func (r *run) withTools(ctx context.Context, o *journal.Options) context.Context {
	r.journal = journal.New(o)
	return observe(ctx, observer{log: &r.ran})
}

// ask begins a step: the model says something. As long as the conversation is
// too long for it, the older half is left out.
func (r *run) ask(ctx context.Context) error {
	before := len(r.calls())
	var spent Usage
	for {
		step, err := r.predictor.say(ctx, &r.source, len(r.Steps)+1, r.conversation())
		step.Usage.add(spent)
		if err != nil && contextTooLong(err) && r.forget() {
			spent = step.Usage
			continue
		}
		step.before = before
		r.Steps = append(r.Steps, step)
		return err
	}
}

// calls are those that the journal has, if there is one.
func (r *run) calls() []journal.Entry {
	if r.journal == nil {
		return nil
	}
	return r.journal.Entries()
}

// ended tells how what the last step did has ended.
func (r *run) ended() {
	if s := r.last(); s.Outcome != nil {
		r.emit(Ended{r.at(len(r.Steps)), s.Outcome, s.Observation})
	}
}

// account says what was done and paid, and why there is no answer. A call that is
// still with its tool is unknown.
func (r *run) account(err error) {
	if r.journal != nil {
		r.journal.End()
		r.Runs = r.ran.list()
	}
	r.Calls = r.calls()
	r.end(&r.Trajectory, err)
}

// incomplete ends the run without an answer.
func (r *run) incomplete(err error) error {
	r.account(err)
	r.emit(Failed{r.at(0), err})
	return &IncompleteError{Err: err, Trajectory: r.Trajectory}
}

// answered ends a run with its answer.
func answered[Out any](r *run, out Out, raw json.RawMessage) (*Prediction[Out], error) {
	r.last().Answer = raw
	r.account(nil)
	if r.tell != nil {
		r.emit(Answered{r.at(0), raw})
	}
	if err := r.fault(); err != nil {
		return nil, r.incomplete(err)
	}
	return &Prediction[Out]{Output: out, Trajectory: r.Trajectory}, nil
}
