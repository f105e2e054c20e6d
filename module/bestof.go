package module

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Reward scores an answer. If it returns an error, the attempt fails with that error. If the module's runs are
// concurrent, so are calls to the Reward.
type Reward[In, Out any] func(ctx context.Context, in In, pred *Prediction[Out]) (Score, error)

// Score is what a [Reward], or a metric of package evaluate, returns.
type Score struct {
	// Value is higher for better answers, usually from 0 to 1. Optimizers consider an answer with the value 1 correct.
	Value float64 `json:"value"`

	// Feedback says in words what is wrong with the answer. Reports, optimizers such as GEPA, and the next attempt of a
	// [Refine] use it. If it is empty, Refine asks a model for advice.
	Feedback string `json:"feedback,omitempty"`

	// Parts, if set, are the values that Value was computed from, by name. Reports show them.
	Parts map[string]float64 `json:"parts,omitempty"`

	// For, if set, is feedback for single predictors of a module with several, by their paths (see [Predictors]).
	// Optimizers then rewrite only these predictors' instructions.
	For map[string]string `json:"for,omitempty"`
}

// AttemptOptions configures [BestOfN] and [Refine]. The zero value and nil mean the defaults.
type AttemptOptions struct {
	// FailCount is how many attempts may fail; the next failure ends the run. Zero means that any number may fail, and
	// a negative number means that no attempt may fail.
	FailCount int

	// Criterion describes what the reward measures, for the model that [Refine] asks for advice.
	Criterion string
}

// BestOfN makes up to n attempts and returns the best answer. It is safe for concurrent use.
type BestOfN[In, Out any] struct {
	// Module makes the attempts.
	Module Module[In, Out]

	contest contest[In, Out]
}

// NewBestOfN returns a module that runs m up to n times, one run after another, until the score of an answer reaches
// the threshold. If no score does, the module returns the first answer with the highest score. With a threshold of
// math.Inf(1), it makes all n attempts. Nil options mean the defaults.
//
// Each attempt runs a [Clone] of m. The clone's Predictors have their own Rollout, so that a cache returns a different
// reply in each attempt, and a Temperature of 1 unless one is set. If m has effects, every attempt has them. To make
// attempts concurrently, use [Samples].
func NewBestOfN[In, Out any](
	m Module[In, Out], n int, reward Reward[In, Out], threshold float64, o *AttemptOptions,
) *BestOfN[In, Out] {
	return &BestOfN[In, Out]{m, newContest(n, reward, threshold, o)}
}

// Run makes attempts until one reaches the threshold.
//
// Run skips attempts that fail, up to AttemptOptions.FailCount of them. If an attempt fails with an error that every
// further attempt would return as well, Run returns the best answer so far. These errors are [budget.ErrSpent] and a
// model's errors of the kinds models.KindAuth, KindInvalid and KindOverBudget. If the context is done, or a tool returns a
// fatal error, the run ends without an answer. The trajectories of all attempts are in Trajectory.Runs.
//
// The prediction is nil if there is an error. Once a model has been called, the error is an *[IncompleteError] that
// holds all attempts and wraps their errors.
func (b *BestOfN[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of BestOfN", &err)
	if b == nil {
		return nil, notMade("BestOfN")
	}
	return b.contest.run(ctx, "BestOfN", b.Module, in, nil)
}

// contest has what BestOfN and Refine share. It makes attempts, one after another, and scores them.
type contest[In, Out any] struct {
	n         int
	reward    Reward[In, Out]
	threshold float64
	options   AttemptOptions
}

func newContest[In, Out any](
	n int, reward Reward[In, Out], threshold float64, o *AttemptOptions,
) contest[In, Out] {
	c := contest[In, Out]{n: n, reward: reward, threshold: threshold}
	if o != nil {
		c.options = *o
	}
	return c
}

// contestRun is one run of a contest.
type contestRun[In, Out any] struct {
	*contest[In, Out]
	*recorder
	in             In
	made           int // attempts so far
	failed         []error
	last           *Prediction[Out] // the last attempt's answer, or nil if it failed
	lastTrajectory Trajectory       // the trajectory of the last attempt, even if it failed
	best           *Prediction[Out]
	score          float64 // the score of best
}

// feedback returns the hints for the next attempt. Their keys are the paths of the predictors.
type feedback[In, Out any] func(context.Context, *contestRun[In, Out], Score) (map[string]string, error)

// run makes attempts until one reaches the threshold. If improve is not nil, run calls it after each attempt whose
// answer stays below the threshold, except the last.
func (c *contest[In, Out]) run(
	ctx context.Context, module string, m Module[In, Out], in In, improve feedback[In, Out],
) (pred *Prediction[Out], err error) {
	ctx, r, err := c.begin(ctx, module, m, in)
	if err != nil {
		return nil, err
	}
	defer r.rescue(&err)
	var hints map[string]string
	for done := false; !done && r.made < c.n; {
		score, err := r.try(ctx, m, hints)
		done = hopeless(err) || err == nil && score.Value >= c.threshold
		if err == nil && !done && improve != nil && r.made < c.n {
			hints, err = improve(ctx, r, score)
		}
		if err != nil && r.fails(ctx, err) {
			return nil, r.incomplete()
		}
	}
	return r.choose()
}

// begin checks that the module can make attempts, and begins a run.
func (c *contest[In, Out]) begin(
	ctx context.Context, module string, m Module[In, Out], in In,
) (context.Context, *contestRun[In, Out], error) {
	_, err := rollouts(m, min(c.n, 1))
	switch {
	case ctx == nil:
		return nil, nil, errNoContext
	case m == nil && c.reward == nil:
		return nil, nil, notMade(module)
	case err != nil:
		return nil, nil, err
	case c.reward == nil:
		return nil, nil, errors.New("module: the reward is missing; pass a function that scores answers")
	}
	path, _ := strings.CutSuffix("."+scopeOf(ctx).pathOf(m), ".Module")
	ctx, r := begin(ctx, module, strings.TrimPrefix(path, "."), nil)
	return ctx, &contestRun[In, Out]{contest: c, recorder: r, in: in}, nil
}

// try makes the next attempt and scores it.
func (r *contestRun[In, Out]) try(ctx context.Context, m Module[In, Out], hints map[string]string) (Score, error) {
	r.last = nil
	copied, err := attempt(m, r.made, r.n, hints)
	r.made++
	if err != nil {
		return Score{}, err
	}
	g := group(ctx)
	result := runIn(ctx, g, copied, m, r.in)
	if r.lastTrajectory = result.Trajectory(); result.Err != nil {
		return Score{}, result.Err
	}
	score, err := r.rate(ctx, result.Prediction)
	if err != nil {
		return Score{}, err
	}
	r.recordScore(g, r.made, score)
	r.last = result.Prediction
	if r.best == nil || score.Value > r.score {
		r.best, r.score = r.last, score.Value
	}
	return score, r.fault()
}

func (r *contestRun[In, Out]) rate(ctx context.Context, pred *Prediction[Out]) (score Score, err error) {
	defer rescue("the reward", &err)
	score, err = r.reward(ctx, r.in, pred)
	if err == nil && math.IsNaN(score.Value) {
		err = errors.New("the score is not a number")
	}
	if err != nil {
		err = fmt.Errorf("the reward: %w", err)
	}
	return score, err
}

// rescue, when deferred, turns a panic into an error that holds what the run has done.
func (r *contestRun[In, Out]) rescue(err *error) {
	if p := recover(); p != nil {
		r.failed = append(r.failed, lm.NewPanic("Run of "+r.origin.Module, p))
		*err = r.incomplete()
	}
}

// fails records an attempt's error, and reports whether the error ends the run. If the context is done, the recorded
// error includes the context's error.
func (r *contestRun[In, Out]) fails(ctx context.Context, err error) bool {
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w; before that, %w", lm.ContextError(ctx), err)
	}
	r.failed = append(r.failed, err)
	tolerated := r.options.FailCount
	if tolerated == 0 {
		tolerated = r.n
	}
	return ctx.Err() != nil || r.fault() != nil || tools.IsFatal(err) || len(r.failed) > tolerated
}

// hopeless reports whether every further attempt would fail with the same error.
func hopeless(err error) bool {
	if failure, ok := errors.AsType[*lm.Error](err); ok {
		switch failure.Kind {
		case lm.KindAuth, lm.KindInvalid:
			return true
		}
	}
	return overBudget(err)
}

// choose ends the run with the best answer.
func (r *contestRun[In, Out]) choose() (*Prediction[Out], error) {
	if r.best == nil {
		return nil, r.incomplete()
	}
	raw, _ := schema.Marshal(r.best.Output) // for observers
	r.emit(event.RunEnd{Origin: r.at(0), Output: raw})
	if err := r.fault(); err != nil {
		r.failed = append(r.failed, err)
		return nil, r.incomplete()
	}
	return &Prediction[Out]{Output: r.best.Output, Trajectory: r.trajectory()}, nil
}

// incomplete ends the run without an answer. The error's message has the last failure, and the error wraps all
// failures.
func (r *contestRun[In, Out]) incomplete() error {
	err := r.failed[len(r.failed)-1]
	if n := len(r.failed); n > 1 {
		err = &failures{fmt.Sprintf("%d attempts failed; the last error: %s", n, bare(err)), r.failed}
		if r.trajectory().empty() {
			r.emit(event.RunEnd{Origin: r.at(0), Err: err})
			return &failures{"module: " + err.Error(), r.failed}
		}
	}
	return r.recorder.incomplete(err)
}
