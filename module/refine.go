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

// Refine makes up to n attempts, each of which gets feedback on the previous one. It is safe for concurrent use.
type Refine[In, Out any] struct {
	// Module makes the attempts.
	Module Module[In, Out]

	// Advisor is asked what to do better if the reward gives no feedback. If its Model is nil, the model of
	// Module's first Predictor is asked.
	Advisor *Predictor

	contest contest[In, Out]
}

// NewRefine returns a module that makes attempts like [NewBestOfN], and adds feedback to the Hint of m's Predictors
// for the next attempt. The feedback comes from the reward. If the reward gives none, a model is shown the outcome
// and each Predictor's questions and replies, and it gives advice for each Predictor. Set AttemptOptions.Criterion
// for that, since the model does not know what the reward measures.
func NewRefine[In, Out any](
	m Module[In, Out], n int, reward Reward[In, Out], threshold float64, o *AttemptOptions,
) *Refine[In, Out] {
	return &Refine[In, Out]{Module: m, Advisor: newAdvisor(m), contest: newContest(n, reward, threshold, o)}
}

// Run makes attempts until one reaches the threshold, like [BestOfN.Run] and with the same errors. The runs of
// the advisor are in Trajectory.Runs as well. If the advisor fails, that counts as a failed attempt, and the
// next attempt is made without advice.
func (r *Refine[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of Refine", &err)
	if r == nil {
		return nil, notMade("Refine")
	}
	if r.Advisor != nil {
		if err := r.Advisor.valid(); err != nil {
			return nil, err
		}
	}
	return r.contest.run(ctx, "Refine", r.Module, in, r.feedback)
}

// Stream is like Run, with the events of the run; see [Start].
func (r *Refine[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, r, in)
}

// feedback returns the hints for the next attempt, by the paths of the predictors.
func (r *Refine[In, Out]) feedback(
	ctx context.Context, c *contestRun[In, Out], score Score,
) (map[string]string, error) {
	output, err := json.Marshal(c.last.Output)
	if err != nil {
		return nil, fmt.Errorf("the output: %w", err)
	}
	if blank(score.Feedback) {
		return r.advice(ctx, c, score, output)
	}
	hints := map[string]string{}
	for path := range Predictors(r.Module) {
		hints[path] = prompt.Feedback(string(output), score.Feedback)
	}
	return hints, nil
}

// advice asks the advisor about the last attempt.
func (r *Refine[In, Out]) advice(
	ctx context.Context, c *contestRun[In, Out], score Score, output []byte,
) (map[string]string, error) {
	input, err := json.Marshal(c.in)
	if err != nil {
		return nil, fmt.Errorf("the input: %w", err)
	}
	advisor, err := r.advisor()
	if err != nil {
		return nil, err
	}
	result := runModule(ctx, advisor, judged{
		Input:     prompt.Cut(string(input), prompt.MaxText),
		Calls:     c.took.exchanges(r.paths(ctx)),
		Output:    prompt.Cut(string(output), prompt.MaxText),
		Criterion: c.options.Criterion,
		Score:     scoreText(score.Value, c.threshold),
	})
	if result.Err != nil {
		return nil, fmt.Errorf("the advisor: %w", result.Err)
	}
	return hintsIn(result.Prediction.Output)
}

// paths maps the paths of the predictors within the run to those within the module.
func (r *Refine[In, Out]) paths(ctx context.Context) map[string]string {
	outer, paths := scopeOf(ctx).paths, map[string]string{}
	for path, p := range Predictors(r.Module) {
		paths[cmp.Or(outer[p], path)] = path
	}
	return paths
}

// scoreText compares a score with the threshold, for the advisor.
func scoreText(score, threshold float64) string {
	if math.IsInf(threshold, 1) {
		return fmt.Sprintf("%g; the highest possible score is wanted", score)
	}
	return fmt.Sprintf("%g, but at least %g is wanted", score, threshold)
}

// advisor is the module that asks Advisor.
func (r *Refine[In, Out]) advisor() (*Predict[judged, signature.Values], error) {
	if r.Advisor == nil {
		return nil, errNoPredictor
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
