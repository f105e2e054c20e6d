package module

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// MultiChainComparison has several attempts made at an answer, and asks a model
// to compare how they came to theirs and to give the right one. It is safe for
// concurrent use.
//
// The method is that of Yoran et al., "Answering Questions by Meta-Reasoning over
// Multiple Chains of Thought" (EMNLP 2023).
type MultiChainComparison[In, Out any] struct {
	// Module makes the attempts, such as a [ChainOfThought].
	Module Module[In, Out]

	// Predictor is the question in which they are compared: the signature with an
	// input "attempts", and as a [ChainOfThought] with an output "reasoning".
	Predictor *Predictor

	signature *signature.Signature[In, Out]
	compared  *signature.Signature[signature.Values, Out] // with the attempts
	attempts  string                                      // the name of that input
	n         int
	err       error // why it cannot run
}

// NewMultiChainComparison returns a module that has n attempts made by m, at the
// same time and as [Samples] says, and asks model to compare them. Nil options
// are the defaults. Run reports what is missing.
func NewMultiChainComparison[In, Out any](sig *signature.Signature[In, Out], m Module[In, Out], n int, model llms.Model, o *Options) *MultiChainComparison[In, Out] {
	options := o.orDefault(maxReplies)
	c := &MultiChainComparison[In, Out]{Module: m, Predictor: options.predictor(model), signature: sig, n: n}
	if spec := specOf(sig); spec != nil {
		c.err = c.compareIn(spec)
	}
	return c
}

// compareIn makes the question in which attempts at spec are compared.
func (c *MultiChainComparison[In, Out]) compareIn(spec *signature.Spec) error {
	c.attempts = "attempts"
	for _, taken := spec.Field(c.attempts); taken; _, taken = spec.Field(c.attempts) {
		c.attempts += "_"
	}
	spec, err := spec.AppendInputs(field(c.attempts, json.RawMessage(`{"type": "array", "items": {"type": "object",
		"properties": {"reasoning": {"type": "string"}, "answer": {}}, "required": ["answer"]}}`),
		"earlier attempts at the same question; compare them, since any of them may be wrong", true))
	if err != nil {
		return err
	}
	if c.compared, err = signature.Typed[signature.Values, Out](spec); err != nil {
		return err
	}
	c.Predictor.Spec, err = reasoned(spec)
	return err
}

// Run has attempts made, and compares those that came to an answer; there must be
// one. All of them are the prediction's Trajectory.Runs. Its steps and
// Trajectory.Reasoning are those of the comparison.
//
// The prediction is nil if there is an error. If the module lacks something, or an
// input violates the signature, Run returns that error. Otherwise it is an
// *[IncompleteError], which holds everything that was done and wraps the reason.
func (c *MultiChainComparison[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescueRun("MultiChainComparison", &err)
	if err := c.usable(ctx, in); err != nil {
		return nil, err
	}
	if _, err := copies(c.Module, c.n); err != nil {
		return nil, err
	}
	ctx, r := begin(ctx, "MultiChainComparison", "", c.Predictor.onEvent)
	defer r.rescue(&err)
	samples, err := Samples(ctx, c.Module, in, c.n, &ParallelOptions{Workers: c.n, Collect: true})
	answers := samples.Predictions()
	if len(answers) == 0 || tools.IsFatal(err) {
		return nil, r.incomplete(reasonOf(err))
	}
	return c.compare(ctx, r, in, answers)
}

// Compare compares attempts that were made otherwise. It is the second half of
// Run, with the same errors; what they did is no part of the trajectory.
func (c *MultiChainComparison[In, Out]) Compare(ctx context.Context, in In, answers []*Prediction[Out]) (pred *Prediction[Out], err error) {
	defer rescueRun("MultiChainComparison", &err)
	if err := c.usable(ctx, in); err != nil {
		return nil, err
	}
	if len(answers) == 0 || slices.Contains(answers, nil) {
		return nil, errNoPredictions
	}
	ctx, r := begin(ctx, "MultiChainComparison", "", c.Predictor.onEvent)
	defer r.rescue(&err)
	return c.compare(ctx, r, in, answers)
}

// Stream is Run with its events; see [Start].
func (c *MultiChainComparison[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, c, in)
}

// usable says what keeps a MultiChainComparison from comparing answers to in.
func (c *MultiChainComparison[In, Out]) usable(ctx context.Context, in In) error {
	switch {
	case ctx == nil:
		return errNoContext
	case c == nil || c.Predictor == nil:
		return notMade("MultiChainComparison")
	case c.signature == nil:
		return errNoSignature
	case c.err != nil:
		return c.err
	}
	if err := c.Predictor.usable(); err != nil {
		return err
	}
	_, err := c.signature.Encode(in)
	return err
}

// compare asks the model which of the answers is right.
func (c *MultiChainComparison[In, Out]) compare(ctx context.Context, r *recorder, in In, answers []*Prediction[Out]) (*Prediction[Out], error) {
	inputs, err := c.question(in, answers)
	if err != nil {
		return nil, r.incomplete(err)
	}
	q, err := ready("MultiChainComparison", c.Predictor, c.compared, inputs)
	if err != nil {
		return nil, r.incomplete(err)
	}
	opening, err := c.Predictor.opening(q)
	if err != nil {
		return nil, r.incomplete(err)
	}
	return predictIn(ctx, r.asking(r.scope.paths[c.Predictor], c.Predictor, q, opening), c.compared)
}

// reasonOf is why a part of a run came to no answer.
func reasonOf(err error) error {
	if part := partOf(err); part != nil {
		return part.Err
	}
	return err
}

// chain is an answer and how somebody came to it.
type chain struct {
	Reasoning string `json:"reasoning,omitempty"`
	Answer    any    `json:"answer"`
}

// question is the inputs with the attempts beside them.
func (c *MultiChainComparison[In, Out]) question(in In, answers []*Prediction[Out]) (signature.Values, error) {
	inputs, err := c.signature.Encode(in)
	if err != nil {
		return nil, err
	}
	chains := make([]chain, len(answers))
	for i, a := range answers {
		chains[i] = chain{prompt.Cut(a.Trajectory.Reasoning(), prompt.MaxText), a.Output}
	}
	raw, err := json.Marshal(chains)
	if err != nil {
		return nil, fmt.Errorf("module: the answers to compare: %w", err)
	}
	return append(inputs, signature.Value{Name: c.attempts, JSON: raw}), nil
}
