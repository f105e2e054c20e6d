package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/signature"
)

// Predict asks the model once and reads the outputs from its reply.
type Predict[In, Out any] struct {
	// Predictor is the question that is asked.
	Predictor *Predictor

	signature *signature.Signature[In, Out]
}

// NewPredict returns a module that asks model for the outputs of sig. Nil
// options are the defaults.
func NewPredict[In, Out any](sig *signature.Signature[In, Out], model llms.Model, o *Options) *Predict[In, Out] {
	return &Predict[In, Out]{
		Predictor: &Predictor{Spec: sig.Spec(), model: model, options: o.orDefault()},
		signature: sig,
	}
}

// Run asks the model. A reply that cannot be read, or whose values violate the
// signature, is shown to the model once, with what is wrong with it.
//
// The error is an input's that violates the signature, or an *[IncompleteError]
// that holds the replies and says why there is no answer.
func (p *Predict[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	inputs, err := p.signature.Encode(in)
	if err != nil {
		return nil, err
	}
	var t Trajectory
	conversation := p.Predictor.opening(formatInputs(inputs))
	for attempt := range 2 {
		step, err := p.Predictor.say(ctx, attempt+1, conversation)
		t.Steps = append(t.Steps, step)
		if err != nil {
			return nil, &IncompleteError{Err: err, Trajectory: t}
		}
		out, err := p.read(step.Reply)
		if err == nil {
			return &Prediction[Out]{Output: out, Trajectory: t}, nil
		}
		observation := repairPrompt(p.Predictor.Spec, err)
		t.Steps[attempt].Observation = observation
		conversation = append(conversation,
			message{llms.ChatMessageTypeAI, step.Reply},
			message{llms.ChatMessageTypeHuman, observation})
		if attempt == 1 {
			return nil, &IncompleteError{Err: fmt.Errorf("%w: %w", ErrNoAnswer, err), Trajectory: t}
		}
	}
	return nil, errors.New("module: unreachable")
}

// read finds the outputs in a reply.
func (p *Predict[In, Out]) read(reply string) (out Out, err error) {
	values, err := readReply(p.Predictor.Spec, reply)
	if err != nil {
		return out, err
	}
	object, err := json.Marshal(values)
	if err != nil {
		return out, err
	}
	return p.signature.Decode(object)
}
