package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/tools"
)

// Reward says how good an answer is. If it returns an error, the attempt fails
// with it. It is called concurrently if the module is.
type Reward[In, Out any] func(ctx context.Context, in In, pred *Prediction[Out]) (Score, error)

// Score is what a [Reward] returns.
type Score struct {
	// Value is higher for better answers.
	Value float64 `json:"value"`

	// Feedback, for [Refine], is what the next attempt should do better. If it is
	// empty, a model is asked for that.
	Feedback string `json:"feedback,omitempty"`
}

// Scored says that an attempt of [BestOfN] or [Refine] came to an answer, and what the
// reward returned for it. Its Step is the number of the attempt.
type Scored struct {
	Origin
	Score Score `json:"score"`

	attempt *recorder
}

// AttemptOptions configures [BestOfN] and [Refine]. The zero value, and nil, are
// the defaults.
type AttemptOptions struct {
	// FailCount is how many attempts may fail; one more ends the run. Zero is any
	// number of them, and less is none.
	FailCount int

	// Criterion says in words what the reward looks for. The model that is asked
	// for advice by [Refine] is told.
	Criterion string
}

// BestOfN makes up to n attempts at an answer and takes the best. It is safe for
// concurrent use.
type BestOfN[In, Out any] struct {
	// Module makes the attempts.
	Module Module[In, Out]

	contest contest[In, Out]
}

// NewBestOfN returns a module that runs m up to n times, one after the other,
// until an answer's reward is not below the threshold; if none is, it takes the
// first of the highest reward. A threshold of math.Inf(1) makes all n attempts.
// Nil options are the defaults.
//
// Each attempt is a run of a [Clone] of m whose Predictors have a Rollout of
// their own, so that a cache gives different replies, and, unless they have one,
// a Temperature of 1. What m does, each attempt does: effects happen up to n
// times. For attempts at the same time there is [Samples].
func NewBestOfN[In, Out any](m Module[In, Out], n int, reward Reward[In, Out], threshold float64, o *AttemptOptions) *BestOfN[In, Out] {
	return &BestOfN[In, Out]{m, newContest(n, reward, threshold, o)}
}

// Run makes attempts until one is good enough.
//
// An attempt that fails is passed over, as long as there are not more of them
// than AttemptOptions.FailCount. After an error that no other attempt could mend
// there is none: one of the model that is of the kind models.KindAuth, Invalid or
// OverBudget, or [ErrBudget]; the best answer until then is taken. That ctx is
// done, or a tool's fatal error, ends the run without an answer. The trajectories
// of all attempts are the prediction's Trajectory.Runs.
//
// The prediction is nil if there is an error: an *[IncompleteError] that holds
// all attempts and wraps why they failed, or, if no model was asked, that reason
// itself.
func (b *BestOfN[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescueRun("BestOfN", &err)
	if b == nil {
		return nil, notMade("BestOfN")
	}
	ctx, t, err := b.contest.begin(ctx, "BestOfN", b.Module, in)
	if err != nil {
		return nil, err
	}
	defer t.rescue(&err)
	for t.made < b.contest.n {
		score, err := t.try(ctx, b.Module, nil)
		if err != nil && t.fails(ctx, err) {
			return nil, t.incomplete()
		}
		if vain(err) || err == nil && score.Value >= b.contest.threshold {
			break
		}
	}
	return t.chosen()
}

// Stream is Run with its events; see [Start].
func (b *BestOfN[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, b, in)
}

// contest is how attempts are judged.
type contest[In, Out any] struct {
	n         int
	reward    Reward[In, Out]
	threshold float64
	options   AttemptOptions
}

func newContest[In, Out any](n int, reward Reward[In, Out], threshold float64, o *AttemptOptions) contest[In, Out] {
	c := contest[In, Out]{n: n, reward: reward, threshold: threshold}
	if o != nil {
		c.options = *o
	}
	return c
}

// trials is one run of a contest.
type trials[In, Out any] struct {
	*contest[In, Out]
	*recorder
	in     In
	made   int
	failed []error
	last   *Prediction[Out]
	took   Trajectory // of the last attempt
	best   *Prediction[Out]
	score  float64 // of the best
}

// begin begins a run, if attempts can be made.
func (c *contest[In, Out]) begin(ctx context.Context, module string, m Module[In, Out], in In) (context.Context, *trials[In, Out], error) {
	_, err := copies(m, min(c.n, 1))
	switch {
	case ctx == nil:
		return nil, nil, errNoContext
	case m == nil && c.reward == nil:
		return nil, nil, notMade(module)
	case err != nil:
		return nil, nil, err
	case c.reward == nil:
		return nil, nil, errors.New("module: there is no reward; pass a function that scores answers")
	}
	path, _ := strings.CutSuffix("."+scopeOf(ctx).pathOf(m), ".Module")
	ctx, r := begin(ctx, module, strings.TrimPrefix(path, "."), nil)
	return ctx, &trials[In, Out]{contest: c, recorder: r, in: in}, nil
}

// try makes the next attempt, and has it scored.
func (t *trials[In, Out]) try(ctx context.Context, m Module[In, Out], hints map[string]string) (Score, error) {
	t.last = nil
	mine, err := attempt(m, t.made, t.n, hints)
	t.made++
	if err != nil {
		return Score{}, err
	}
	g := group(ctx)
	result := resultIn(ctx, g, mine, m, t.in)
	if t.took = result.Trajectory(); result.Err != nil {
		return Score{}, result.Err
	}
	score, err := t.rate(ctx, result.Prediction)
	if err != nil {
		return Score{}, err
	}
	t.emit(Scored{t.at(t.made), score, g})
	t.last = result.Prediction
	if t.best == nil || score.Value > t.score {
		t.best, t.score = t.last, score.Value
	}
	return score, t.fault()
}

func (t *trials[In, Out]) rate(ctx context.Context, pred *Prediction[Out]) (score Score, err error) {
	defer rescue("the reward", &err)
	score, err = t.reward(ctx, t.in, pred)
	if err == nil && math.IsNaN(score.Value) {
		err = errors.New("it is not a number")
	}
	if err != nil {
		err = fmt.Errorf("the reward: %w", err)
	}
	return score, err
}

// rescue, when deferred, makes an error of a panic, with the account of what was
// done until then.
func (t *trials[In, Out]) rescue(err *error) {
	if p := recover(); p != nil {
		t.failed = append(t.failed, newPanic("Run of "+t.origin.Module, p))
		*err = t.incomplete()
	}
}

// fails notes a failure, and reports whether it was one too many. That of a run whose
// context is done says so, also if it came first.
func (t *trials[In, Out]) fails(ctx context.Context, err error) bool {
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w; before that, %w", over(ctx), err)
	}
	t.failed = append(t.failed, err)
	tolerated := t.options.FailCount
	if tolerated == 0 {
		tolerated = t.n
	}
	return ctx.Err() != nil || t.fault() != nil || tools.IsFatal(err) || len(t.failed) > tolerated
}

// vain reports whether every other attempt would come to the same error.
func vain(err error) bool {
	if failure, ok := errors.AsType[*lm.Error](err); ok {
		switch failure.Kind {
		case lm.KindAuth, lm.KindInvalid, lm.KindOverBudget:
			return true
		}
	}
	return errors.Is(err, ErrBudget)
}

func (t *trials[In, Out]) chosen() (*Prediction[Out], error) {
	if t.best == nil {
		return nil, t.incomplete()
	}
	raw, _ := json.Marshal(t.best.Output) // for those who watch
	t.emit(Answered{Origin: t.at(0), Output: raw})
	if err := t.fault(); err != nil {
		t.failed = append(t.failed, err)
		return nil, t.incomplete()
	}
	return &Prediction[Out]{Output: t.best.Output, Trajectory: t.trajectory()}, nil
}

// incomplete ends the run without an answer. Its reason is the last failure;
// those before are wrapped, too.
func (t *trials[In, Out]) incomplete() error {
	err := t.failed[len(t.failed)-1]
	if n := len(t.failed); n > 1 {
		err = &failures{fmt.Sprintf("%d attempts failed; the last: %s", n, bare(err)), t.failed}
	}
	t.emit(Failed{t.at(0), err})
	if len(t.failed) > 1 && t.trajectory().empty() {
		return &failures{"module: " + err.Error(), t.failed}
	}
	return withAll(err, t.trajectory())
}
