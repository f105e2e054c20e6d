package module

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
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

	coder[In, Out]
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
	c := coder[In, Out]{name: "CodeAct", signature: sig, bench: bench{box: box, set: set, options: o.orDefault(5)}}
	p, c := newCoder(c, model, briefing{})
	return &CodeAct[In, Out]{p, c}
}

// Run asks, checks, runs and observes until an answer is submitted, or, with
// Options.Extract, until the steps are used up and the model has said what is
// known.
//
// The prediction is nil if there is an error: an input's that violates the
// signature, or an *[IncompleteError], whose trajectory holds everything that
// was done and which wraps why that was no answer: [ErrMaxIters], the context's
// error, the model's, the sandbox's, or the one by which a tool ended the run.
func (c *CodeAct[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of CodeAct", &err)
	ctx, r, err := c.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	defer r.rescue(&err)
	for range c.options.MaxIters {
		if err := r.ask(ctx); err != nil {
			return nil, r.incomplete(err)
		}
		program, err := replies.ReadProgram(r.last().Reply, r.last().Truncated)
		if err != nil {
			r.observe(noProgram(err))
			continue
		}
		outcome, err := r.execute(ctx, program)
		if err != nil {
			return nil, r.incomplete(err)
		}
		if !c.answers(outcome) {
			r.observe(r.report(outcome))
			continue
		}
		out, err := c.signature.Decode(outcome.Value)
		if err != nil {
			r.observe(r.rejected(outcome, err))
			continue
		}
		return answered(r.accept(), out, outcome.Value)
	}
	if !c.options.Extract {
		return nil, r.incomplete(fmt.Errorf("%w; the last one: %s", ErrMaxIters, firstLine(r.last().Observation)))
	}
	out, raw, err := extract(ctx, r.run, c.signature)
	if err != nil {
		return nil, r.incomplete(err)
	}
	return answered(r.accept(), out, raw)
}

// Stream is Run, of which one can see what happens: see [Start].
func (c *CodeAct[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, c, in)
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
