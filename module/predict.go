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
	return &Predict[In, Out]{
		Predictor: &Predictor{Spec: specOf(sig), model: model, options: o.orDefault()},
		signature: sig,
	}
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
	if err := p.usable(); err != nil {
		return nil, err
	}
	inputs, err := p.signature.Encode(in)
	if err != nil {
		return nil, err
	}
	var t Trajectory
	opening := p.Predictor.opening(inputs)
	for {
		step, err := p.Predictor.say(ctx, len(t.Steps)+1, t.conversation(opening))
		t.Steps = append(t.Steps, step)
		if err != nil {
			return nil, &IncompleteError{Err: err, Trajectory: t}
		}
		out, err := p.read(step)
		if err == nil {
			return &Prediction[Out]{Output: out, Trajectory: t}, nil
		}
		if len(t.Steps) == attempts {
			return nil, &IncompleteError{Err: fmt.Errorf("%w: %w", ErrNoAnswer, err), Trajectory: t}
		}
		t.last().Observation = repairPrompt(p.Predictor.Spec, err)
	}
}

// read finds the outputs in a reply.
func (p *Predict[In, Out]) read(s Step) (out Out, err error) {
	values, err := readReply(p.Predictor.Spec, s)
	if err != nil {
		return out, err
	}
	object, err := json.Marshal(values)
	if err != nil {
		return out, err
	}
	return p.signature.Decode(object)
}

func (p *Predict[In, Out]) usable() error {
	switch {
	case p == nil || p.Predictor == nil:
		return errNotMade
	case p.signature == nil || p.Predictor.Spec == nil:
		return errNoSignature
	case p.Predictor.model == nil:
		return errNoModel
	}
	return nil
}
