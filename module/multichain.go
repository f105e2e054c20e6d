package module

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// MultiChainComparison makes several attempts and asks a model to compare their reasoning and to give the
// right answer. It is safe for concurrent use.
//
// The method was published by Yoran et al., "Answering Questions by Meta-Reasoning over Multiple Chains of Thought"
// (EMNLP 2023).
type MultiChainComparison[In, Out any] struct {
	// Module makes the attempts. It usually is a [ChainOfThought].
	Module Module[In, Out]

	// Predictor asks for the comparison. Its Spec is the signature with another input, "attempts", and, as in a
	// [ChainOfThought], an output "reasoning".
	Predictor *Predictor

	signature  *signature.Signature[In, Out]
	comparison *signature.Signature[signature.Values, Out] // the signature with the attempts as an input
	attempts   string                                      // that input's name
	n          int
	err        error // why the module cannot run
}

// NewMultiChainComparison returns a module that makes n concurrent runs of m, like [Samples], and asks model to compare
// these attempts. Nil options mean the defaults. Run reports missing parts.
func NewMultiChainComparison[In, Out any](
	sig *signature.Signature[In, Out], m Module[In, Out], n int, model llms.Model, o *Options,
) *MultiChainComparison[In, Out] {
	c := &MultiChainComparison[In, Out]{Module: m, Predictor: o.predictor(model), signature: sig, n: n}
	if spec := specOf(sig); spec != nil {
		c.err = c.setSpec(spec)
	}
	return c
}

// setSpec makes the Predictor compare answers to the question that spec describes.
func (c *MultiChainComparison[In, Out]) setSpec(spec *signature.Spec) error {
	c.attempts = replies.UnusedName(spec, "attempts")
	spec, err := spec.AppendInputs(prompt.AttemptsField(c.attempts))
	if err != nil {
		return err
	}
	if c.comparison, err = signature.Typed[signature.Values, Out](spec); err != nil {
		return err
	}
	c.comparison = c.comparison.WithCheck(c.signature.Check)
	c.Predictor.Spec, err = replies.ExplainedSpec(spec)
	return err
}

// Run makes the attempts and asks the model to compare their answers. At least one attempt must have an answer. All
// attempts are in Trajectory.Runs. The trajectory's steps, and its Reasoning, are those of the comparison.
//
// The prediction is nil if there is an error. If the module is incomplete, or an input violates the signature, the
// error says so. Every other error is an *[IncompleteError], which holds everything that was done and wraps the reason.
func (c *MultiChainComparison[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of MultiChainComparison", &err)
	if err := c.usable(ctx, in); err != nil {
		return nil, err
	}
	if _, err := rollouts(c.Module, c.n); err != nil {
		return nil, err
	}
	ctx, r := begin(ctx, cmp.Or(c.Predictor.kind, "MultiChainComparison"), "", c.Predictor.onEvent)
	defer r.rescue(&err)
	samples, err := Samples(ctx, c.Module, in, c.n, &ParallelOptions{Workers: c.n, Collect: true})
	answers := answersOf(samples)
	if len(answers) == 0 || tools.IsFatal(err) {
		return nil, r.incomplete(reasonOf(err))
	}
	return c.compare(ctx, r, in, answers)
}

// usable returns an error if the module cannot run, or if the input violates the signature.
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
func (c *MultiChainComparison[In, Out]) compare(
	ctx context.Context, r *recorder, in In, answers []*Prediction[Out],
) (*Prediction[Out], error) {
	inputs, err := c.inputs(in, answers)
	if err != nil {
		return nil, r.incomplete(err)
	}
	q, err := newQuestion("MultiChainComparison", c.Predictor, c.comparison, inputs)
	if err != nil {
		return nil, r.incomplete(err)
	}
	p, err := c.Predictor.forQuestion(ctx, q.Inputs)
	if err != nil {
		return nil, r.incomplete(err)
	}
	opening, err := p.opening(q)
	if err != nil {
		return nil, r.incomplete(err)
	}
	asks := r.newRun(r.scope.paths[c.Predictor], p, q, opening)
	if err := asks.compact(ctx); err != nil {
		return nil, err
	}
	return askFor(ctx, asks, c.comparison)
}

// inputs returns the comparison's inputs: those of the question, and the attempts.
func (c *MultiChainComparison[In, Out]) inputs(in In, answers []*Prediction[Out]) (signature.Values, error) {
	inputs, err := c.signature.Encode(in)
	if err != nil {
		return nil, err
	}
	list := make([]prompt.Attempt, len(answers))
	for i, a := range answers {
		answer, err := schema.Marshal(a.Output)
		if err != nil {
			return nil, fmt.Errorf("module: encode the answers to compare: %w", err)
		}
		list[i] = prompt.Attempt{Reasoning: prompt.Cut(a.Trajectory.Reasoning(), prompt.MaxText), Answer: answer}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("module: encode the answers to compare: %w", err)
	}
	return append(inputs, signature.Value{Name: c.attempts, JSON: raw}), nil
}
