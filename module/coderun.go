package module

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// coder is what modules that write programs are made of, besides the question. A
// module that gives each run a sandbox or tools of its own changes a copy.
type coder[In, Out any] struct {
	name      string // of the module
	signature *signature.Signature[In, Out]
	bench
	err error // why it cannot run
}

// bench is what programs are run with.
type bench struct {
	box     Sandbox
	set     *tools.Set
	options Options
	session bool                // programs see what earlier ones declared
	values  bool                // a value that is a valid answer is as good as a submitted one
	runs    func() []Trajectory // those that programs have had made; nil for none
	left    func() string       // what else is left, for the model; nil for nothing
}

// newCoder puts together what programs need, and the question for them. What b
// says of the task is filled in.
func newCoder[In, Out any](c coder[In, Out], model llms.Model, b briefing) (*Predictor, coder[In, Out]) {
	spec := specOf(c.signature)
	if c.err = usable(spec, model, c.box, c.set); c.err != nil {
		return nil, c
	}
	c.options.warn(c.set)
	b.task, b.set, b.options, b.limits, b.session = spec, c.set, c.options, limitsOf(c.box), c.session
	p := c.options.predictor(model)
	p.Spec, p.task, p.Briefing = replies.ProgramSpec(spec), spec, b.String()
	return p, c
}

// made says why the module cannot run.
func (c *coder[In, Out]) made() error {
	if c.name == "" {
		return errNotMade
	}
	return c.err
}

// answers reports whether a program has ended with an answer, valid or not.
func (c *coder[In, Out]) answers(o *sandbox.Outcome) bool {
	return o.Submitted || c.values && o.Failure == nil && gives(o.Value) && c.signature.Spec().Validate(o.Value) == nil
}

// gives reports whether a value is an object in which there is something: where all
// outputs are optional, an empty one would be valid, but was not meant.
func gives(value json.RawMessage) bool {
	var outputs signature.Values
	return json.Unmarshal(value, &outputs) == nil &&
		slices.ContainsFunc(outputs, func(v signature.Value) bool { return string(v.JSON) != "null" })
}

// limitsOf returns the limits of a sandbox that tells them.
func limitsOf(box Sandbox) sandbox.Limits {
	if limited, ok := box.(interface{ Limits() sandbox.Limits }); ok {
		return limited.Limits()
	}
	return sandbox.Limits{}
}

// codeRun is one run of a module that writes programs: the trajectory, and the
// record of effects.
type codeRun struct {
	*run
	bench
	inputs map[string]any
}

func (c *CodeAct[In, Out]) begin(ctx context.Context, in In) (context.Context, *codeRun, error) {
	if c == nil {
		return nil, nil, errNotMade
	}
	if err := c.made(); err != nil {
		return nil, nil, err
	}
	if err := c.Predictor.usable(); err != nil {
		return nil, nil, err
	}
	inputs, err := c.signature.Encode(in)
	if err != nil {
		return nil, nil, err
	}
	q, err := newPreview(c.signature.Spec(), inputs)
	if err != nil {
		return nil, nil, err
	}
	r := &codeRun{bench: c.bench, inputs: map[string]any{}}
	if ctx, r.run, err = newRun(ctx, c.name, c.Predictor, q); err != nil {
		return nil, nil, err
	}
	r.journal, r.delegated = journal.New(), c.runs
	for _, v := range inputs {
		r.inputs[v.Name] = v.JSON
	}
	return ctx, r, nil
}

// execute runs the program of the last step.
func (r *codeRun) execute(ctx context.Context, p replies.Program) (*sandbox.Outcome, error) {
	step, at := r.last(), r.at(len(r.Steps))
	step.Reasoning, step.Code = p.Reasoning, p.Code
	r.emit(Started{at, p.Code})
	outcome, err := r.box.Run(ctx, sandbox.Program{
		Source: p.Code, Inputs: r.inputs, Tools: r.set, Ledger: r.journal.Attempt(), Submit: true,
		Compiler: r.options.Compiler,
		OnCall:   func(c sandbox.Call) { r.emit(Called{at, c}) },
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
