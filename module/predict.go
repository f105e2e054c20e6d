package module

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/signature"
)

// Predict asks the model once and reads the outputs from its reply. It is safe for concurrent use.
type Predict[In, Out any] struct {
	// Predictor is the question.
	Predictor *Predictor

	signature *signature.Signature[In, Out]
}

// NewPredict returns a module that asks model for sig's outputs. Nil options mean the defaults. Run reports missing
// parts.
func NewPredict[In, Out any](sig *signature.Signature[In, Out], model llms.Model, o *Options) *Predict[In, Out] {
	p := o.predictor(model)
	p.Spec = specOf(sig)
	return &Predict[In, Out]{Predictor: p, signature: sig}
}

// Run asks the model. If a reply cannot be read, or its values violate the signature or one of its checks
// ([signature.Signature.Check]), the model is told what is wrong and asked again, Options.Retries times.
//
// The prediction is nil if there is an error. If the module is incomplete, or an input violates the signature, the
// error says so. Every other error is an *[IncompleteError], which holds the replies and wraps the reason:
// [ErrNoAnswer], an error from the context or the model, or the error with which a check ended the run.
func (p *Predict[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	if p == nil {
		return nil, notMade("Predict")
	}
	return predict(ctx, "Predict", p.Predictor, p.signature, in)
}

// predict runs a module that asks one question.
func predict[In, Out any](
	ctx context.Context, module string, p *Predictor, sig *signature.Signature[In, Out], in In,
) (pred *Prediction[Out], err error) {
	defer rescue("Run of "+module, &err)
	q, err := newQuestion(module, p, sig, in)
	if err != nil {
		return nil, err
	}
	ctx, r, err := newRun(ctx, module, p, q)
	if err != nil {
		return nil, err
	}
	defer r.rescue(&err)
	return askFor(ctx, r, sig)
}

// askFor asks for sig's outputs, and asks again if the reply cannot be used.
func askFor[In, Out any](ctx context.Context, r *run, sig *signature.Signature[In, Out]) (*Prediction[Out], error) {
	follow(r, sig)
	for {
		if err := r.ask(ctx); err != nil {
			return nil, r.incomplete(err)
		}
		values, reasoning, err := r.read(sig.Spec())
		if err == nil {
			out, invalid := decode(ctx, sig, values)
			if invalid == nil {
				return complete(r.recorder, out, values, reasoning)
			}
			if end, ends := fromCheck(invalid); ends {
				return nil, r.incomplete(end)
			}
			err = invalid
		}
		if len(r.Steps) > max(cmp.Or(r.predictor.retries, 1), 0) {
			return nil, r.incomplete(fmt.Errorf("%w: %w%s", ErrNoAnswer, err, r.last().advice()))
		}
		r.observe(r.predictor.repair(err), "")
	}
}

// advice returns what the caller, as opposed to the model, can do about a reply that cannot be used.
func (s *Step) advice() string {
	if s.Truncated {
		return " (to allow the model more tokens, add llms.WithMaxTokens to Options.CallOptions)"
	}
	return ""
}

// newQuestion checks the parts of a module that asks for sig's outputs, and returns the question for an input.
func newQuestion[In, Out any](
	module string, p *Predictor, sig *signature.Signature[In, Out], in In,
) (q conversation.Question, err error) {
	switch {
	case p == nil:
		return q, notMade(module)
	case sig == nil:
		return q, errNoSignature
	}
	if err := p.usable(); err != nil {
		return q, err
	}
	if task := sig.Spec(); p.task == nil && p.Spec != task {
		if err := checkFields(p.Spec, task.Inputs(), task.Outputs()); err != nil {
			return q, err
		}
	}
	inputs, err := sig.Encode(in)
	if err != nil {
		return q, err
	}
	return conversation.NewQuestion(p.Spec, inputs)
}

// checkFields returns an error if an edited spec requires an input that the module does not provide, or lacks an output
// that the module needs.
func checkFields(spec *signature.Spec, provided, needed []signature.Field) error {
	for _, f := range spec.Inputs() {
		named := func(g signature.Field) bool { return g.Name == f.Name }
		if f.Required && !slices.ContainsFunc(provided, named) {
			return fmt.Errorf("module: the Predictor's Spec has the input %q, which the signature lacks; "+
				"use a signature that has it", f.Name)
		}
	}
	for _, f := range needed {
		if _, ok := spec.Field(f.Name); f.Required && !ok {
			return fmt.Errorf("module: the Predictor's Spec lacks the output %q, which the answer needs; "+
				"add it", f.Name)
		}
	}
	return nil
}
