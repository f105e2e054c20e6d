package module

import (
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
// submits an answer that is valid against the signature.
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
}

// Sandbox checks and runs programs; a *[sandbox.Sandbox] does.
type Sandbox interface {
	// Run is as documented at [sandbox.Sandbox.Run].
	Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error)
}

// NewCodeAct returns a module that answers sig by programs which may call the
// tools of set, nil for none. The inputs of sig are constants of the programs.
// Nil options are the defaults.
func NewCodeAct[In, Out any](sig *signature.Signature[In, Out], model llms.Model, box Sandbox, set *tools.Set, o *Options) *CodeAct[In, Out] {
	options := o.orDefault()
	return &CodeAct[In, Out]{
		Predictor: &Predictor{Spec: programSpec(sig.Spec()), Context: codeContext(sig.Spec(), set, options), model: model, options: options},
		signature: sig, box: box, set: set, options: options,
	}
}

// Run asks, checks, runs and observes until an answer is submitted.
//
// The error is an input's that violates the signature, or an *[IncompleteError],
// whose trajectory holds everything that was done: the steps are used up, ctx is
// done, the model or the sandbox failed, or a tool ended the run.
func (c *CodeAct[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	inputs, err := c.signature.Encode(in)
	if err != nil {
		return nil, err
	}
	r := c.begin(inputs)
	for n := range c.options.MaxIters {
		step, err := c.Predictor.say(ctx, n+1, r.conversation())
		r.add(step)
		if err != nil {
			return nil, r.incomplete(err)
		}
		program, err := readProgram(step.Reply)
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
			r.observe(r.rejected(err))
			continue
		}
		return &Prediction[Out]{Output: out, Trajectory: r.accept()}, nil
	}
	return nil, r.incomplete(ErrMaxIters)
}

// codeRun is one run of a CodeAct: the trajectory, and the record of effects.
type codeRun struct {
	Trajectory
	box     Sandbox
	set     *tools.Set
	options Options
	opening []message
	inputs  map[string]any
	journal *journal.Journal
}

func (c *CodeAct[In, Out]) begin(inputs signature.Values) *codeRun {
	r := &codeRun{
		box: c.box, set: c.set, options: c.options,
		opening: c.Predictor.opening(formatInputs(inputs)),
		inputs:  map[string]any{}, journal: journal.New(),
	}
	for _, v := range inputs {
		r.inputs[v.Name] = v.JSON
	}
	return r
}

// conversation is the trajectory as the model sees it: a fold over the steps.
func (r *codeRun) conversation() []message {
	list := append([]message(nil), r.opening...)
	for _, s := range r.Steps {
		list = append(list,
			message{llms.ChatMessageTypeAI, s.Reply},
			message{llms.ChatMessageTypeHuman, s.Observation})
	}
	return list
}

func (r *codeRun) add(s Step) { r.Steps = append(r.Steps, s) }

func (r *codeRun) last() *Step { return &r.Steps[len(r.Steps)-1] }

// execute runs the program of the last step.
func (r *codeRun) execute(ctx context.Context, p program) (*sandbox.Outcome, error) {
	if r.box == nil {
		return nil, errors.New("module: there is no sandbox; pass one")
	}
	step, n := r.last(), len(r.Steps)
	step.Reasoning, step.Code = p.reasoning, p.code
	r.options.emit(Started{n, p.code})
	outcome, err := r.box.Run(ctx, sandbox.Program{
		Source: p.code, Inputs: r.inputs, Tools: r.set, Ledger: r.journal.Attempt(), Submit: true,
		OnCall: func(c sandbox.Call) { r.options.emit(Called{n, c}) },
	})
	step.Outcome = outcome
	if err != nil {
		return nil, fmt.Errorf("module: %w", err)
	}
	if outcome.Submitted {
		r.options.emit(Ended{n, outcome, ""})
	}
	return outcome, nil
}

// observe records what the model is told of the last step.
func (r *codeRun) observe(text string) {
	step := r.last()
	step.Observation = text + "\n\n" + r.remaining()
	if step.Outcome != nil {
		r.options.emit(Ended{len(r.Steps), step.Outcome, step.Observation})
	}
}

// accept closes the record and returns the trajectory.
func (r *codeRun) accept() Trajectory {
	r.Orphans = append(r.Orphans, r.journal.Accept()...)
	r.Effects = r.journal.Entries()
	return r.Trajectory
}

func (r *codeRun) incomplete(err error) error {
	r.Effects = r.journal.Entries()
	return &IncompleteError{Err: err, Trajectory: r.Trajectory}
}
