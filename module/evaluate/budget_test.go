package evaluate_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
)

// When the budget of its context is spent, by the module or by the metric, an evaluation ends with the results so far.
// A later one goes on.
func TestEvaluateWithinBudget(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: `{"capital": "right"}`}, nil
	})
	m := module.NewPredict(asking, model, nil)
	judge := func(ctx context.Context, e evaluate.Example[Question, Answer], _ *module.Prediction[Answer]) (module.Score,
		error) {
		_, err := m.Run(ctx, e.In)
		return module.Score{Value: 1}, err
	}
	examples, _ := numbers(10, all)
	o := &evaluate.Options{Workers: 1}
	for i, ended := range []int{0, 1, 1} { // each example takes two calls
		calls := i + 1
		o.Results = filepath.Join(t.TempDir(), "results.jsonl")
		ctx := budget.With(t.Context(), budget.Limits{Calls: calls})
		r, err := evaluate.Evaluate(ctx, m, examples, judge, o)
		if !errors.Is(err, budget.ErrSpent) || len(r.Results) != ended || r.Errors+r.NoAnswers != 0 {
			t.Errorf("%d calls: got %v, %v", calls, r, err)
		}
	}
	asked := len(model.Requests())
	r, err := evaluate.Evaluate(t.Context(), m, examples, judge, o)
	if n := len(model.Requests()) - asked; err != nil || len(r.Results) != 10 || n != 20-3 {
		t.Errorf("got %v, %v after %d calls", r, err, n)
	}
}
