package optimize_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/module/optimize"
)

// A budget of the context ends a search with the best candidate so far, and is charged for the direct calls of models
// by the metric. What a resumed search gets from its log is not charged to it again.
func TestBudgetOfContext(t *testing.T) {
	t.Parallel()
	by := optimize.BootstrapRandomSearch{BootstrapFewShot: optimize.BootstrapFewShot{MaxLabeled: 5}, Candidates: 8}
	judge := models.Retry(learner(), nil)
	metric := func(ctx context.Context, e evaluate.Example[question, answer], got *module.Prediction[answer],
	) (module.Score, error) {
		if _, err := judge.GenerateContent(ctx, []llms.MessageContent{
			llms.TextParts(llms.ChatMessageTypeHuman, "right?")}); err != nil {
			return module.Score{}, err
		}
		return right(ctx, e, got)
	}
	o := &optimize.Options{Dir: t.TempDir(), Workers: 4}
	calls := 0 // of the student, in the first search
	for range 2 {
		ctx := budget.With(t.Context(), budget.Limits{Calls: 100})
		student := module.NewPredict(spelled, learner().With(models.Capabilities{Model: "student"}), nil)
		r, err := optimize.Run(ctx, student, by, numbersData(), metric, o)
		if !errors.Is(err, budget.ErrSpent) || r == nil || len(r.Candidates) == 0 {
			t.Fatalf("got %v, %v", r, err)
		}
		if s := budget.Of(ctx).Spent(); s.Calls != 100 || r.Spent.StudentCalls <= calls {
			t.Errorf("spent %v of the budget, and %v", s, r.Spent)
		}
		calls = r.Spent.StudentCalls
	}
}
