package module

import (
	"cmp"
	"context"
	"errors"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// codeRun is one run of a CodeAct: the trajectory, and the record of effects.
type codeRun struct {
	*run
	box     Sandbox
	set     *tools.Set
	options Options
	inputs  map[string]any
}

func (c *CodeAct[In, Out]) begin(ctx context.Context, in In) (context.Context, *codeRun, error) {
	switch {
	case c == nil || c.Predictor == nil && c.err == nil:
		return nil, nil, errNotMade
	case c.err != nil:
		return nil, nil, c.err
	}
	if err := c.Predictor.usable(); err != nil {
		return nil, nil, err
	}
	inputs, err := c.signature.Encode(in)
	if err != nil {
		return nil, nil, err
	}
	r := &codeRun{box: c.box, set: c.set, options: c.options, inputs: map[string]any{}}
	if ctx, r.run, err = newRun(ctx, "CodeAct", c.Predictor, question{inputs: inputs}); err != nil {
		return nil, nil, err
	}
	r.journal = journal.New()
	for _, v := range inputs {
		r.inputs[v.Name] = v.JSON
	}
	return ctx, r, nil
}

// execute runs the program of the last step.
func (r *codeRun) execute(ctx context.Context, p program) (*sandbox.Outcome, error) {
	step, at := r.last(), r.at(len(r.Steps))
	step.Reasoning, step.Code = cmp.Or(p.reasoning, step.Reasoning), p.code
	r.emit(Started{at, p.code})
	outcome, err := r.box.Run(ctx, sandbox.Program{
		Source: p.code, Inputs: r.inputs, Tools: r.set, Ledger: r.journal.Attempt(), Submit: true,
		OnCall: func(c sandbox.Call) { r.emit(Called{at, c}) },
	})
	step.Outcome = outcome
	switch {
	case err != nil:
		r.ended()
		return nil, err
	case outcome == nil:
		return nil, errors.New("the sandbox returned neither an outcome nor an error")
	}
	return outcome, nil
}

// observe ends a step with what the model is told of it.
func (r *codeRun) observe(text string) {
	r.last().Observation = text + r.remaining()
	r.ended()
}

// accept ends the last step with an answer, and closes the record.
func (r *codeRun) accept() *run {
	r.Orphans = append(r.Orphans, r.journal.Accept()...)
	r.ended()
	return r.run
}
