package module_test

import (
	"context"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
)

// The best attempt is known afterwards: which it was, its score, its reasoning.
func TestChosen(t *testing.T) {
	t.Parallel()
	model := llmtest.New(
		`{"reasoning": "one", "total": 1}`, `{"reasoning": "three", "total": 3}`, `{"reasoning": "two", "total": 2}`)
	larger := func(_ context.Context, _ orders, pred *module.Prediction[sum]) (module.Score, error) {
		return module.Score{Value: float64(pred.Output.Total), Feedback: "more"}, nil
	}
	pred, err := module.NewRefine(module.NewChainOfThought(adding, model, nil), 3, larger, 9, nil).Run(t.Context(), anything)
	if err != nil {
		t.Fatal(err)
	}
	got := pred.Trajectory
	if got.Chosen != 2 || got.Runs[1].Score.Value != 3 || got.Reasoning() != "three" || string(got.Answer()) != `{"total":3}` || got.Usage().Calls != 3 {
		t.Errorf("chosen was %d with %v: %q, %s", got.Chosen, got.Runs[1].Score, got.Reasoning(), got.Answer())
	}
}
