package module

import (
	"context"
	"encoding/json"
	"fmt"

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
// options are the defaults. What is missing, Run says.
func NewPredict[In, Out any](sig *signature.Signature[In, Out], model llms.Model, o *Options) *Predict[In, Out] {
	options := o.orDefault(attempts)
	p := options.predictor(model)
	p.Spec = specOf(sig)
	return &Predict[In, Out]{Predictor: p, signature: sig}
}

// attempts is how often a reply may be wrong: the first, and the one after the
// model was told why.
const attempts = 2

// Run asks the model. A reply that cannot be read, or whose values violate the
// signature, is shown to the model once, with what is wrong with it.
//
// The prediction is nil if there is an error: an input's that violates the
// signature, or an *[IncompleteError] that holds the replies and wraps why there
// is no answer: [ErrNoAnswer], the context's error or the model's.
func (p *Predict[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	ctx, r, err := p.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	for {
		if err := r.ask(ctx); err != nil {
			return nil, r.incomplete(err)
		}
		values, err := r.read()
		if err == nil {
			out, invalid := p.signature.Decode(values)
			if invalid == nil {
				return answered(r, out, values), nil
			}
			err = invalid
		}
		if len(r.Steps) == attempts {
			return nil, r.incomplete(fmt.Errorf("%w: %w", ErrNoAnswer, err))
		}
		r.last().Observation = r.predictor.repair(err)
	}
}

// Stream is Run, of which one can see what happens: see [Start].
func (p *Predict[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, p, in)
}

func (p *Predict[In, Out]) begin(ctx context.Context, in In) (context.Context, *run, error) {
	if err := p.usable(); err != nil {
		return nil, nil, err
	}
	inputs, err := p.signature.Encode(in)
	if err != nil {
		return nil, nil, err
	}
	q, err := newQuestion(p.Predictor.Spec, inputs)
	if err != nil {
		return nil, nil, err
	}
	return newRun(ctx, "Predict", p.Predictor, q)
}

// read finds the outputs in the last reply, as an object.
func (r *run) read() (json.RawMessage, error) {
	s := r.last()
	values, err := r.predictor.adapter().Read(r.predictor.Spec, s.Reply, s.Truncated)
	if err != nil {
		return nil, err
	}
	return values.MarshalJSON()
}

func (p *Predict[In, Out]) usable() error {
	switch {
	case p == nil || p.Predictor == nil:
		return errNotMade
	case p.signature == nil:
		return errNoSignature
	}
	return p.Predictor.usable()
}
