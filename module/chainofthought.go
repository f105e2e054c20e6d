package module

import (
	"cmp"
	"context"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// ChainOfThought asks the model once, as [Predict] does, for its reasoning first
// and then for the outputs. It is for questions that take thought, and models
// that do not think by themselves. It is safe for concurrent use.
//
// The method is that of Wei et al., "Chain-of-Thought Prompting Elicits Reasoning
// in Large Language Models" (NeurIPS 2022).
type ChainOfThought[In, Out any] struct {
	// Predictor is the question that is asked: the signature with an output
	// "reasoning" before the others. One that the signature has already is that
	// output; an input of that name is left alone, and the output is called
	// "reasoning_".
	Predictor *Predictor

	signature *signature.Signature[In, Out]
	err       error // why it cannot run
}

// NewChainOfThought returns a module that asks model for its reasoning and the
// outputs of sig. Nil options are the defaults. Run reports what is missing.
func NewChainOfThought[In, Out any](sig *signature.Signature[In, Out], model llms.Model, o *Options) *ChainOfThought[In, Out] {
	options := o.orDefault(maxReplies)
	c := &ChainOfThought[In, Out]{Predictor: options.predictor(model), signature: sig}
	if spec := specOf(sig); spec != nil {
		c.Predictor.Spec, c.err = reasoned(spec)
	}
	return c
}

// Run asks the model. What it does with replies, and what it returns, is as
// documented at [Predict.Run]. [Trajectory.Reasoning] has the reasoning.
//
// A reply that has the outputs without the reasoning is an answer: another
// question would be answered by what was said already.
func (c *ChainOfThought[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	switch {
	case c == nil:
		return nil, notMade("ChainOfThought")
	case c.err != nil:
		return nil, c.err
	}
	return predict(ctx, "ChainOfThought", c.Predictor, c.signature, in)
}

// Stream is Run with its events; see [Start].
func (c *ChainOfThought[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, c, in)
}

// reasoned puts the reasoning before the other outputs.
func reasoned(spec *signature.Spec) (*signature.Spec, error) {
	outputs := spec.Outputs()
	own, ok := replies.OutputNamed(spec, "reasoning")
	if ok {
		outputs = slices.DeleteFunc(outputs, func(f signature.Field) bool { return f.Name == own.Name })
	} else {
		own = reasoning
		for _, taken := spec.Field(own.Name); taken; _, taken = spec.Field(own.Name) {
			own.Name += "_"
		}
	}
	return signature.NewSpec(spec.Instructions(), spec.Inputs(), append([]signature.Field{own}, outputs...))
}

// reasoning is the output of which a model makes the others.
var reasoning, _ = signature.Must(signature.New[struct{}, struct {
	Reasoning string `json:"reasoning" jsonschema:"description=the steps that lead to the answer"`
}]("")).Spec().Field("reasoning")

// Reasoning returns what the model said to explain the last step: the reasoning
// of a [ChainOfThought], the thought of a [ReAct]. If it said nothing, that is what
// it thought before its reply, as far as its provider tells, or "". Of several
// attempts it is that of the one that was chosen.
func (t Trajectory) Reasoning() string {
	if c := t.chosen(); c != nil {
		return c.Reasoning()
	}
	if len(t.Steps) == 0 {
		return ""
	}
	return cmp.Or(t.last().Reasoning, t.last().Thinking)
}
