package module

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// ChainOfThought asks the model once, like [Predict], but has it write its reasoning before the outputs. Use it for
// questions that need reasoning, with models that do not reason by themselves. It is safe for concurrent use.
//
// The method was published by Wei et al., "Chain-of-Thought Prompting Elicits Reasoning in Large Language Models"
// (NeurIPS 2022).
type ChainOfThought[In, Out any] struct {
	// Predictor is the question: the signature with an output "reasoning" before the other outputs. If the signature
	// already has an output of that name, it is moved to the front. If it has an input of that name, the output is
	// called "reasoning_".
	Predictor *Predictor

	signature *signature.Signature[In, Out]
	err       error // why the module cannot run
}

// NewChainOfThought returns a module that asks model for its reasoning and sig's outputs. Nil options mean the
// defaults. Run reports missing parts.
func NewChainOfThought[In, Out any](
	sig *signature.Signature[In, Out], model llms.Model, o *Options,
) *ChainOfThought[In, Out] {
	c := &ChainOfThought[In, Out]{Predictor: o.predictor(model), signature: sig}
	if spec := specOf(sig); spec != nil {
		c.Predictor.Spec, c.err = replies.ExplainedSpec(spec)
	}
	return c
}

// Run asks the model. It handles replies and errors like [Predict.Run]. A reply that has the outputs but no reasoning
// is accepted. [Trajectory.Reasoning] returns the reasoning.
func (c *ChainOfThought[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	switch {
	case c == nil:
		return nil, notMade("ChainOfThought")
	case c.err != nil:
		return nil, c.err
	}
	return predict(ctx, "ChainOfThought", c.Predictor, c.signature, in)
}
