package optimize_test

import (
	"context"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
)

// proposing accepts candidates with the given instructions.
func proposing(path string, instructions ...string) optimize.Optimizer {
	return optimize.OptimizerFunc(func(ctx context.Context, t *optimize.Task) error {
		for _, text := range instructions {
			c := t.New(t.Start(), "proposing")
			s := c.States()[path]
			s.Instructions = text
			c.States()[path] = s
			if err := t.Accept(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// A reflection model that says nothing, or the same again, ends nothing.
func TestReflection(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Name the number."} {
		advisor := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: text}, nil
		})
		by := optimize.OptimizerFunc(func(ctx context.Context, task *optimize.Task) error {
			got, err := task.Ask(ctx, "Write instructions.")
			if err != nil || got != text {
				t.Errorf("got %q, %v", got, err)
			}
			if got == "" {
				return nil
			}
			return optimize.Optimize(ctx, proposing("Predictor", got, got), task)
		})
		r := run(t, by, &optimize.Options{Reflection: advisor})
		if len(r.Candidates) != 1 || r.Spent.ReflectionCalls != 1 || r.Spent.StudentCalls != 20 {
			t.Errorf("%d candidates, spent %v", len(r.Candidates), r.Spent)
		}
	}
}

// Models that a metric asks are counted and recorded as well.
func TestMetricCalls(t *testing.T) {
	t.Parallel()
	dir, asked := t.TempDir(), 0
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		asked++
		return reply("text", "good"), nil
	})
	critic := module.NewPredict(spelled, model, nil)
	metric := func(
		ctx context.Context, e evaluate.Example[question, answer], _ *module.Prediction[answer],
	) (module.Score, error) {
		pred, err := critic.Run(ctx, e.In)
		if err != nil {
			return module.Score{}, err
		}
		return module.Score{Value: float64(len(pred.Output.Text)) / 8}, nil
	}
	for range 2 {
		r, err := optimize.Run(t.Context(), newStudent(), optimize.LabeledFewShot{}, numbersData(), metric,
			&optimize.Options{Dir: dir, Workers: 1})
		if err != nil || r.Spent.MetricCalls != 40 || r.Spent.StudentCalls != 40 || asked != 40 || r.Best.ID != 0 {
			t.Errorf("spent %v, %d calls, %v", r.Spent, asked, err)
		}
	}
}
