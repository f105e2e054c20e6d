package module

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// Refine makes up to n attempts and gives each attempt feedback on the previous one. It is safe for concurrent use.
type Refine[In, Out any] struct {
	// Module makes the attempts.
	Module Module[In, Out]

	// Advisor asks a model what to improve if the reward gives no feedback. If its Model is nil, Refine uses the model
	// of Module's first Predictor.
	Advisor *Predictor

	contest contest[In, Out]
}

// NewRefine returns a module that makes attempts like [NewBestOfN], and adds feedback on each attempt to the Hints of
// the Predictors in the next attempt. The feedback comes from the reward. If the reward gives no feedback, a model sees
// the outcome and each Predictor's questions and replies, and gives advice for each Predictor. For this case, set
// AttemptOptions.Criterion, since the model does not know what the reward measures.
func NewRefine[In, Out any](
	m Module[In, Out], n int, reward Reward[In, Out], threshold float64, o *AttemptOptions,
) *Refine[In, Out] {
	return &Refine[In, Out]{Module: m, Advisor: newAdvisor(m), contest: newContest(n, reward, threshold, o)}
}

// Run makes attempts until one reaches the threshold, like [BestOfN.Run] and with the same errors. The advisor's runs
// are in Trajectory.Runs as well. A failure of the advisor counts as a failed attempt, and the next attempt is made
// without advice.
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

// feedback returns the hints for the next attempt. Their keys are the paths of the predictors.
func (r *Refine[In, Out]) feedback(
	ctx context.Context, c *contestRun[In, Out], score Score,
) (map[string]string, error) {
	output, err := schema.Marshal(c.last.Output)
	if err != nil {
		return nil, fmt.Errorf("encode the output: %w", err)
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
	input, err := schema.Marshal(c.in)
	if err != nil {
		return nil, fmt.Errorf("encode the input: %w", err)
	}
	advisor, err := r.advisor()
	if err != nil {
		return nil, err
	}
	result := runModule(ctx, advisor, prompt.Judged{
		Input:     prompt.Cut(string(input), prompt.MaxText),
		Calls:     r.calls(ctx, c.lastTrajectory),
		Output:    prompt.Cut(string(output), prompt.MaxText),
		Criterion: c.options.Criterion,
		Score:     prompt.Score(score.Value, c.threshold),
	})
	if result.Err != nil {
		return nil, fmt.Errorf("the advisor: %w", result.Err)
	}
	return prompt.Hints(result.Prediction.Output)
}

// calls returns an attempt's questions and replies, with the predictors' paths within the module.
func (r *Refine[In, Out]) calls(ctx context.Context, attempt Trajectory) []prompt.JudgedCall {
	outer, paths := scopeOf(ctx).paths, map[string]string{}
	for path, p := range Predictors(r.Module) {
		paths[cmp.Or(outer[p], path)] = path
	}
	steps := attempt.allSteps()
	slices.SortStableFunc(steps, func(a, b Step) int { return a.Began.Compare(b.Began) })
	list := make([]prompt.JudgedCall, len(steps))
	for i, s := range steps {
		list[i] = prompt.JudgedCall{
			Part: cmp.Or(paths[s.Predictor], s.Predictor), Question: lm.LastText(s.Prompt), Reply: s.Reply,
		}
	}
	return prompt.CutCalls(list)
}

// allSteps returns a run's steps, followed by the steps of the runs within it.
func (t Trajectory) allSteps() []Step {
	steps := slices.Clone(t.Steps)
	for _, run := range t.Runs {
		steps = append(steps, run.allSteps()...)
	}
	return steps
}

// advisor returns the module that asks Advisor.
func (r *Refine[In, Out]) advisor() (*Predict[prompt.Judged, signature.Values], error) {
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
	sig, err := signature.Typed[prompt.Judged, signature.Values](p.Spec)
	return &Predict[prompt.Judged, signature.Values]{Predictor: p, signature: sig}, err
}

// newAdvisor returns the Predictor that asks what the predictors of a module should do better.
func newAdvisor(m any) *Predictor {
	var paths []string
	briefing := prompt.Parts
	for path, p := range Predictors(m) {
		paths = append(paths, path)
		briefing += prompt.Part(path, p.Spec)
	}
	return &Predictor{Spec: prompt.AdviceSpec(paths), Briefing: briefing}
}
