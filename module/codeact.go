package module

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
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

	coder coder[In, Out]
}

// Sandbox checks and runs programs. A *[sandbox.Sandbox] runs each program on its own. A
// *[sandbox.Session] keeps the variables of programs for later ones, also for later runs
// of the module: the question says which variables there are. Runs that share a session
// should come one after the other; [Chat] sees to that.
//
// If it has a method Ready() error, as both of these do, Run calls it first and returns its
// error.
type Sandbox interface {
	// Run is as documented at [sandbox.Sandbox.Run].
	Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error)
}

// NewCodeAct returns a module that answers sig by programs which may call the
// tools of set, nil for none. The inputs of sig are constants of the programs.
// Nil options are the defaults. Run reports what is missing or does not fit
// together, before it asks the model.
func NewCodeAct[In, Out any](sig *signature.Signature[In, Out], model llms.Model, box Sandbox, set *tools.Set, o *Options) *CodeAct[In, Out] {
	c := &CodeAct[In, Out]{coder: coder[In, Out]{
		name: "CodeAct", signature: sig, kit: kit{box: box, set: set, options: o.orDefault(8)},
	}}
	c.Predictor = c.coder.question(model, "")
	return c
}

// Run asks, checks, runs and observes until an answer is submitted, or, with
// Options.Extract, until the steps are used up and the model has said what is
// known.
//
// The prediction is nil if there is an error. If the module lacks something, or an
// input violates the signature, Run returns that error. Otherwise it is an
// *[IncompleteError], whose trajectory holds everything that was done and which
// wraps the reason: [ErrMaxIters], the context's error, the model's, the
// sandbox's, or the one by which a tool ended the run.
func (c *CodeAct[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescueRun("CodeAct", &err) // of what comes before r, whose own accounts for what was done
	ctx, r, err := c.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	defer r.rescue(&err)
	var valid *valued[Out] // an answer, while the model is asked about what its program left behind
	for r.left() > 0 {
		if err := r.ask(ctx); err != nil {
			return valid.or(r, err)
		}
		program, err := r.program()
		if err != nil {
			r.observe(r.unread(err))
			continue
		}
		// The sandbox checks first: a refused program is an Outcome whose Failure says so, and
		// nothing ran. Effects go through the journal, so that a program written
		// again does not repeat them.
		outcome, err := r.execute(ctx, program)
		if err != nil {
			return nil, r.incomplete(err)
		}
		if !c.coder.answers(outcome) {
			r.observe(r.report(outcome))
			continue
		}
		answer := c.coder.answer(outcome)
		out, err := c.coder.signature.Decode(answer)
		if err != nil {
			r.observe(r.rejected(c.coder.signature.Spec(), outcome, err))
			continue
		}
		if valid = (&valued[Out]{out, answer}); r.doubted(outcome) || r.orphaned(answer) {
			continue
		}
		return answered(r.accept(), out, answer, "")
	}
	if valid != nil || !c.coder.options.Extract {
		return valid.or(r, fmt.Errorf("%w; the last one: %s", ErrMaxIters, prompt.FirstLine(r.last().Observation)))
	}
	out, raw, err := c.extract(ctx, r)
	if err != nil {
		return nil, r.incomplete(err)
	}
	return answered(r.accept(), out, raw, "")
}

// valued is an answer and its JSON.
type valued[Out any] struct {
	out Out
	raw json.RawMessage
}

// or ends the run: with the answer v, or with err if v is nil.
func (v *valued[Out]) or(r *codeRun, err error) (*Prediction[Out], error) {
	if v == nil {
		return nil, r.incomplete(err)
	}
	return answered(r.accept(), v.out, v.raw, "")
}

// Stream is Run with its events; see [Start].
func (c *CodeAct[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, c, in)
}

// usable says what keeps a CodeAct from running.
func usable(spec *signature.Spec, model llms.Model, box Sandbox, set *tools.Set) error {
	opened, isOurs := box.(*sandbox.Sandbox)
	if s, isSession := box.(*sandbox.Session); isSession && s == nil {
		box = nil
	}
	switch {
	case spec == nil:
		return errNoSignature
	case model == nil:
		return errNoModel
	case box == nil, isOurs && opened == nil: // a nil *Sandbox: the error of sandbox.New was ignored
		return errNoSandbox
	}
	return checkInputs(spec, set)
}

// checkInputs refuses inputs that could not be constants of a program.
func checkInputs(spec *signature.Spec, set *tools.Set) error {
	taken := map[string]bool{}
	for _, b := range set.Bindings() {
		taken[cmp.Or(b.Object, b.Names[0])] = true // the global: a namespace or the tool itself
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
