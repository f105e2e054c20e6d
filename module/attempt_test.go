package module_test

import (
	"context"
	"errors"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// An error that every other attempt would return as well ends the attempts, with the best answer so
// far or with the calls that were made. Other errors do not.
func TestAttemptsStopAtHopelessError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, test := range []struct {
		err error
		all bool // attempts are made
	}{
		{&models.Error{Kind: models.KindAuth, Err: broken}, false},
		{&models.Error{Kind: models.KindInvalid, Err: broken}, false},
		{&models.Error{Kind: models.KindOverBudget, Err: broken}, false},
		{budget.ErrSpent, false},
		{&models.Error{Kind: models.KindTransient, Err: broken}, true},
		{&models.Error{Kind: models.KindRefused, Err: broken}, true},
		// The attempt itself ran out of time.
		{&models.Error{Kind: models.KindCancelled, Err: context.DeadlineExceeded}, true},
		{broken, true},
	} {
		for _, answers := range []int{0, 1, 2} {
			for _, kind := range []string{"BestOfN", "Refine"} {
				m, model := failingAfter(kind, answers, test.err)
				pred, err := m.Run(t.Context(), anything)
				asked := answers + 1
				if test.all {
					asked = 4
				}
				if n := len(model.Requests()); n != asked {
					t.Errorf("%s, %v after %d answers: %d attempts, want %d", kind, test.err, answers, n, asked)
				}
				var done module.Trajectory
				part, ok := errors.AsType[*module.IncompleteError](err)
				switch {
				case ok && answers == 0 && errors.Is(err, test.err):
					done = part.Trajectory
				case err == nil && answers > 0 && pred.Output.Total == answers:
					done = pred.Trajectory
				default:
					t.Errorf("%s, %v after %d answers: got %v, %v", kind, test.err, answers, pred, err)
				}
				if len(done.Runs) != asked {
					t.Errorf("%s, %v after %d answers: the trajectory has %d attempts", kind, test.err, answers, len(done.Runs))
				}
			}
		}
	}
}

// failingAfter returns a module of four attempts. The first ones answer, each better than the one before, and the
// others fail.
func failingAfter(kind string, answers int, err error) (module.Module[orders, sum], *llmtest.Model) {
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N <= answers {
			return llmtest.Reply{Text: total(r.N)}, nil
		}
		return llmtest.Reply{}, err
	})
	reward := func(_ context.Context, _ orders, pred *module.Prediction[sum]) (module.Score, error) {
		return module.Score{Value: float64(pred.Output.Total), Feedback: "more"}, nil
	}
	one := module.NewPredict(adding, model, nil)
	if kind == "Refine" {
		return module.NewRefine(one, 4, reward, 9, nil), model
	}
	return module.NewBestOfN(one, 4, reward, 9, nil), model
}

// The advisor may be another model, so there is another attempt even if it fails.
func TestRefineStopsAtAdvisorError(t *testing.T) {
	t.Parallel()
	one := answering(total(1), total(2))
	m := module.NewRefine(one, 2, fairly, 1, nil)
	m.Advisor.Model = llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{}, &models.Error{Kind: models.KindAuth, Err: errors.New("401")}
	})
	pred, err := m.Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 2 {
		t.Errorf("got %v, %v", pred, err)
	}
}

// If the model that judges answers cannot be called, there are no further attempts.
func TestRewardError(t *testing.T) {
	t.Parallel()
	refused := &models.Error{Kind: models.KindAuth, Err: errors.New("401")}
	reward := func(context.Context, orders, *module.Prediction[sum]) (module.Score, error) {
		return module.Score{}, refused
	}
	_, err := module.NewBestOfN(answering(total(1), total(2)), 2, reward, 1, nil).Run(t.Context(), anything)
	part, ok := errors.AsType[*module.IncompleteError](err)
	if !ok || !errors.Is(err, refused) || len(part.Trajectory.Runs) != 1 {
		t.Errorf("got %v", err)
	}
}
