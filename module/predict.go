package module

import (
	"context"
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/signature"
)

// Predict asks the model once and reads the outputs from its reply. It is safe
// for concurrent use.
type Predict[In, Out any] struct {
	// Predictor is the question that is asked.
	Predictor *Predictor

	signature *signature.Signature[In, Out]
}

// NewPredict returns a module that asks model for the outputs of sig. Nil
// options are the defaults. Run reports what is missing.
func NewPredict[In, Out any](sig *signature.Signature[In, Out], model llms.Model, o *Options) *Predict[In, Out] {
	options := o.orDefault(maxReplies)
	p := options.predictor(model)
	p.Spec = specOf(sig)
	return &Predict[In, Out]{Predictor: p, signature: sig}
}

// maxReplies is how often a reply may be wrong: the first, and the one after the
// model was told why.
const maxReplies = 2

// Run asks the model. A reply that cannot be read, or whose values violate the
// signature, is shown to the model once, with what is wrong with it.
//
// The prediction is nil if there is an error. If the module lacks something, or an
// input violates the signature, Run returns that error. Otherwise it is an
// *[IncompleteError], which holds the replies and wraps the reason: [ErrNoAnswer],
// the context's error or the model's.
func (p *Predict[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	if p == nil {
		return nil, notMade("Predict")
	}
	return predict(ctx, "Predict", p.Predictor, p.signature, in)
}

// Stream is Run with its events; see [Start].
func (p *Predict[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, p, in)
}

// predict asks for outputs, and once more if the reply cannot be used.
func predict[In, Out any](ctx context.Context, module string, p *Predictor, sig *signature.Signature[In, Out], in In) (pred *Prediction[Out], err error) {
	defer rescueRun(module, &err)
	q, err := ready(module, p, sig, in)
	if err != nil {
		return nil, err
	}
	ctx, r, err := newRun(ctx, module, p, q)
	if err != nil {
		return nil, err
	}
	defer r.rescue(&err)
	return predictIn(ctx, r, sig)
}

// predictIn does so in a run that has begun.
func predictIn[In, Out any](ctx context.Context, r *run, sig *signature.Signature[In, Out]) (*Prediction[Out], error) {
	for {
		if err := r.ask(ctx); err != nil {
			return nil, r.incomplete(err)
		}
		values, reasoning, err := r.read(sig.Spec())
		if err == nil {
			out, invalid := sig.Decode(values)
			if invalid == nil {
				return answered(r, out, values, reasoning)
			}
			err = invalid
		}
		if len(r.Steps) == maxReplies {
			return nil, r.incomplete(fmt.Errorf("%w: %w%s", ErrNoAnswer, err, r.last().advice()))
		}
		r.observe(r.predictor.repair(err))
	}
}

// advice is what the caller, as opposed to the model, can do about a reply that cannot
// be used.
func (s *Step) advice() string {
	if s.Truncated {
		return " (llms.WithMaxTokens, among the CallOptions of module.Options, allows the model more tokens)"
	}
	return ""
}

// ready returns the question of a module that asks for what is in its inputs.
func ready[In, Out any](module string, p *Predictor, sig *signature.Signature[In, Out], in In) (question, error) {
	switch {
	case p == nil:
		return question{}, notMade(module)
	case sig == nil:
		return question{}, errNoSignature
	}
	if err := p.usable(); err != nil {
		return question{}, err
	}
	if task := sig.Spec(); p.task == nil && p.Spec != task {
		if err := covers(p.Spec, task.Inputs(), task.Outputs()); err != nil {
			return question{}, err
		}
	}
	inputs, err := sig.Encode(in)
	if err != nil {
		return question{}, err
	}
	return newQuestion(p.Spec, inputs)
}

// covers refuses a question whose fields were edited so that no reply could be of
// use: it has an input that nobody gives, or lacks an output that is needed.
func covers(asked *signature.Spec, given, needed []signature.Field) error {
	for _, f := range asked.Inputs() {
		named := func(g signature.Field) bool { return g.Name == f.Name }
		if f.Required && !slices.ContainsFunc(given, named) {
			return fmt.Errorf("module: the Predictor's Spec has the input %q, which the signature does not; make a signature that has it", f.Name)
		}
	}
	for _, f := range needed {
		if _, asks := asked.Field(f.Name); f.Required && !asks {
			return fmt.Errorf("module: the Predictor's Spec lacks the output %q; without it there is no answer", f.Name)
		}
	}
	return nil
}
