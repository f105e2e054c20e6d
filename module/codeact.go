package module

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// CodeAct answers by acting: it asks the model for a JavaScript program, checks
// and runs it, shows the model what came of it, and so on, until a program
// submits an answer that is valid against the signature. It is safe for
// concurrent use.
//
// The method is that of Wang et al., "Executable Code Actions Elicit Better LLM
// Agents" (ICML 2024).
type CodeAct[In, Out any] struct {
	// Predictor is the question for the next program.
	Predictor *Predictor

	signature *signature.Signature[In, Out]
	box       Sandbox
	set       *tools.Set
	options   Options
	err       error // why it cannot run
}

// Sandbox checks and runs programs; a *[sandbox.Sandbox] does.
type Sandbox interface {
	// Run is as documented at [sandbox.Sandbox.Run].
	Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error)
}

// NewCodeAct returns a module that answers sig by programs which may call the
// tools of set, nil for none. The inputs of sig are constants of the programs.
// Nil options are the defaults. What is missing or does not fit together, Run
// says before it asks the model anything.
func NewCodeAct[In, Out any](sig *signature.Signature[In, Out], model llms.Model, box Sandbox, set *tools.Set, o *Options) *CodeAct[In, Out] {
	c := &CodeAct[In, Out]{signature: sig, box: box, set: set, options: o.orDefault()}
	spec := specOf(sig)
	if c.err = usable(spec, model, box, set); c.err == nil {
		c.options.warn(set)
		c.Predictor = &Predictor{
			Spec: programSpec(spec), Briefing: briefing(spec, set, c.options),
			model: model, options: c.options,
		}
	}
	return c
}

// Run asks, checks, runs and observes until an answer is submitted.
//
// The prediction is nil if there is an error: an input's that violates the
// signature, or an *[IncompleteError], whose trajectory holds everything that
// was done and which wraps why that was no answer: [ErrMaxIters], the context's
// error, the model's, the sandbox's, or the one by which a tool ended the run.
func (c *CodeAct[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	r, err := c.begin(in)
	if err != nil {
		return nil, err
	}
	for range c.options.MaxIters {
		if err := r.ask(ctx); err != nil {
			return nil, r.incomplete(err)
		}
		program, err := readProgram(*r.last())
		if err != nil {
			r.observe(noProgram(err))
			continue
		}
		outcome, err := r.execute(ctx, program)
		if err != nil {
			return nil, r.incomplete(err)
		}
		if !outcome.Submitted {
			r.observe(r.report(outcome))
			continue
		}
		out, err := c.signature.Decode(outcome.Value)
		if err != nil {
			r.observe(r.rejected(outcome, err))
			continue
		}
		return &Prediction[Out]{Output: out, Trajectory: r.accept()}, nil
	}
	return nil, r.incomplete(fmt.Errorf("%w; the last one: %s", ErrMaxIters, firstLine(r.last().Observation)))
}

// codeRun is one run of a CodeAct: the trajectory, and the record of effects.
type codeRun struct {
	Trajectory
	predictor *Predictor
	box       Sandbox
	set       *tools.Set
	options   Options
	opening   []message
	inputs    map[string]any
	journal   *journal.Journal
}

func (c *CodeAct[In, Out]) begin(in In) (*codeRun, error) {
	switch {
	case c == nil || c.Predictor == nil && c.err == nil:
		return nil, errNotMade
	case c.err != nil:
		return nil, c.err
	}
	inputs, err := c.signature.Encode(in)
	if err != nil {
		return nil, err
	}
	r := &codeRun{
		predictor: c.Predictor, box: c.box, set: c.set, options: c.options,
		opening: c.Predictor.opening(inputs),
		inputs:  map[string]any{}, journal: journal.New(),
	}
	for _, v := range inputs {
		r.inputs[v.Name] = v.JSON
	}
	return r, nil
}

// ask begins a step: the model says something.
func (r *codeRun) ask(ctx context.Context) error {
	step, err := r.predictor.say(ctx, len(r.Steps)+1, r.conversation(r.opening))
	r.Steps = append(r.Steps, step)
	return err
}

// execute runs the program of the last step.
func (r *codeRun) execute(ctx context.Context, p program) (*sandbox.Outcome, error) {
	step, n := r.last(), len(r.Steps)
	step.Reasoning, step.Code = p.reasoning, p.code
	r.options.emit(Started{n, p.code})
	outcome, err := r.box.Run(ctx, sandbox.Program{
		Source: p.code, Inputs: r.inputs, Tools: r.set, Ledger: r.journal.Attempt(), Submit: true,
		OnCall: func(c sandbox.Call) { r.options.emit(Called{n, c}) },
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

// accept ends the last step with an answer, closes the record and returns the
// trajectory.
func (r *codeRun) accept() Trajectory {
	r.Orphans = append(r.Orphans, r.journal.Accept()...)
	r.Effects = r.journal.Entries()
	r.ended()
	return r.Trajectory
}

func (r *codeRun) ended() {
	if s := r.last(); s.Outcome != nil {
		r.options.emit(Ended{len(r.Steps), s.Outcome, s.Observation})
	}
}

func (r *codeRun) incomplete(err error) error {
	r.Effects = r.journal.Entries()
	return &IncompleteError{Err: err, Trajectory: r.Trajectory}
}

// usable says what keeps a CodeAct from running.
func usable(spec *signature.Spec, model llms.Model, box Sandbox, set *tools.Set) error {
	opened, isOurs := box.(*sandbox.Sandbox)
	switch {
	case spec == nil:
		return errNoSignature
	case model == nil:
		return errNoModel
	case box == nil, isOurs && opened == nil: // of a sandbox.New that failed
		return errNoSandbox
	}
	return checkInputs(spec, set)
}

// checkInputs refuses inputs that could not be constants of a program.
func checkInputs(spec *signature.Spec, set *tools.Set) error {
	taken := map[string]bool{}
	for _, b := range set.Bindings() {
		taken[cmp.Or(b.Object, b.Names[0])] = true
	}
	for _, f := range spec.Inputs() {
		switch {
		case tools.Reserved(f.Name):
			return fmt.Errorf("module: the input %q has the name of a global of programs; rename it", f.Name)
		case taken[f.Name]:
			return fmt.Errorf("module: the input %q has the name of a tool or of its namespace; rename one", f.Name)
		}
	}
	return nil
}
