package module

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
)

// Refine makes up to n attempts at an answer, and tells each what to do better
// than the one before. It is safe for concurrent use.
type Refine[In, Out any] struct {
	// Module makes the attempts.
	Module Module[In, Out]

	// Advisor is asked what to do better, where the reward does not say so. If its
	// Model is nil, the model of Module's first Predictor is asked.
	Advisor *Predictor

	contest contest[In, Out]
}

// NewRefine returns a module that works as [NewBestOfN] says, and gives feedback
// to the next attempt by the Hint of m's Predictors. Feedback is what the reward
// says, or else advice that a model gives to each of the Predictors, when it is
// shown what they were asked, what they replied, and what came of it. Set
// AttemptOptions.Criterion for that: no model knows what the reward looks for.
func NewRefine[In, Out any](m Module[In, Out], n int, reward Reward[In, Out], threshold float64, o *AttemptOptions) *Refine[In, Out] {
	r := &Refine[In, Out]{Module: m, contest: newContest(n, reward, threshold, o)}
	r.Advisor = newAdvisor(m)
	return r
}

// Run makes attempts until one is good enough, as [BestOfN.Run] does and with the
// same errors. What advice costs is in Trajectory.Runs, too. A failure of the
// advisor counts as one of an attempt, and the next one is made without advice.
func (r *Refine[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescueRun("Refine", &err)
	if r == nil {
		return nil, notMade("Refine")
	}
	if a := r.Advisor; a != nil && a.Spec != nil {
		if err := a.sound(); err != nil {
			return nil, err
		}
	}
	ctx, t, err := r.contest.begin(ctx, "Refine", r.Module, in)
	if err != nil {
		return nil, err
	}
	defer t.rescue(&err)
	var hints map[string]string
	for t.made < r.contest.n {
		score, err := t.try(ctx, r.Module, hints)
		enough := vain(err) || err == nil && score.Value >= r.contest.threshold
		if err == nil && !enough && t.made < r.contest.n {
			hints, err = r.feedback(ctx, t, score)
		}
		if err != nil && t.fails(ctx, err) {
			return nil, t.incomplete()
		}
		if enough {
			break
		}
	}
	return t.chosen()
}

// Stream is Run with its events; see [Start].
func (r *Refine[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, r, in)
}

// feedback returns what the predictors are told in the next attempt, by their
// paths.
func (r *Refine[In, Out]) feedback(ctx context.Context, t *trials[In, Out], score Score) (map[string]string, error) {
	output, err := json.Marshal(t.last.Output)
	if err != nil {
		return nil, fmt.Errorf("the output: %w", err)
	}
	if blank(score.Feedback) {
		return r.advice(ctx, t, score, output)
	}
	hints := map[string]string{}
	for path := range Predictors(r.Module) {
		hints[path] = prompt.Feedback(string(output), score.Feedback)
	}
	return hints, nil
}

// advice asks the advisor about the last attempt.
func (r *Refine[In, Out]) advice(ctx context.Context, t *trials[In, Out], score Score, output []byte) (map[string]string, error) {
	input, err := json.Marshal(t.in)
	if err != nil {
		return nil, fmt.Errorf("the input: %w", err)
	}
	advisor, err := r.advisor()
	if err != nil {
		return nil, err
	}
	result := resultFrom(ctx, advisor, judged{
		Input:     prompt.Cut(string(input), prompt.MaxText),
		Calls:     t.took.exchanges(r.paths(ctx)),
		Output:    prompt.Cut(string(output), prompt.MaxText),
		Criterion: r.contest.options.Criterion,
		Score:     worth(score.Value, r.contest.threshold),
	})
	if result.Err != nil {
		return nil, fmt.Errorf("the advisor: %w", result.Err)
	}
	return hintsIn(result.Prediction.Output)
}

// paths are the paths of the predictors within the module, by those that runs within ctx
// tell.
func (r *Refine[In, Out]) paths(ctx context.Context) map[string]string {
	outer, paths := scopeOf(ctx).paths, map[string]string{}
	for path, p := range Predictors(r.Module) {
		paths[cmp.Or(outer[p], path)] = path
	}
	return paths
}

// worth is a score beside what is wanted. No score reaches infinity: all attempts are to
// be made.
func worth(score, threshold float64) string {
	if math.IsInf(threshold, 1) {
		return fmt.Sprintf("%g, but as much as possible is required", score)
	}
	return fmt.Sprintf("%g, but at least %g is required", score, threshold)
}

// advisor is the module that asks Advisor.
func (r *Refine[In, Out]) advisor() (*Predict[judged, signature.Values], error) {
	if r.Advisor == nil {
		return nil, errNoPredictor
	}
	if err := r.Advisor.prepare(); err != nil {
		return nil, err
	}
	p := r.Advisor.Clone()
	for _, asked := range Predictors(r.Module) {
		if p.Model == nil {
			p.Model = asked.Model
		}
	}
	if err := p.usable(); err != nil {
		return nil, err
	}
	sig, err := signature.Typed[judged, signature.Values](p.Spec)
	return &Predict[judged, signature.Values]{Predictor: p, signature: sig}, err
}
