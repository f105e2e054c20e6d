package optimize_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
)

// saying is a student that always gives the same answer, or fails if that is empty.
func saying(text string) predict {
	return module.NewPredict(spelled, llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		if text == "" {
			return llmtest.Reply{}, errors.New("the line is bad")
		}
		return reply("text", text), nil
	}), nil)
}

func TestEnsemble(t *testing.T) {
	t.Parallel()
	last := func(answers []module.Result[answer]) (*module.Prediction[answer], error) {
		return answers[len(answers)-1].Prediction, nil
	}
	for _, c := range []struct {
		texts []string
		vote  func([]module.Result[answer]) (*module.Prediction[answer], error)
		want  string
	}{
		{[]string{"a", "b", "b"}, nil, "b"},
		{[]string{"a", "b", "c"}, nil, "a"},
		{[]string{"", "b", ""}, nil, "b"},
		{[]string{"a", "a", "c"}, last, "c"},
		{[]string{"", ""}, nil, "optimize: no module of the Ensemble gave an answer: "},
		{nil, nil, "optimize: the Ensemble has no modules"},
	} {
		var members []predict
		for _, text := range c.texts {
			members = append(members, saying(text))
		}
		e := optimize.NewEnsemble(members)
		e.Vote = c.vote
		pred, err := module.Start(t.Context(), e, question{1}).Result()
		got := fmt.Sprint(err)
		if err == nil {
			got = pred.Output.Text
			if n := len(pred.Trajectory.Runs); n != len(c.texts) || pred.Trajectory.Runs[0].Name != "Modules[0]" {
				t.Errorf("%d runs: %v", n, pred.Trajectory)
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: got %s, want %s", c.texts, got, c.want)
		}
	}
	if _, err := (&optimize.Ensemble[question, answer]{Modules: []module.Module[question, answer]{nil}}).
		Run(t.Context(), question{}); err == nil || !strings.Contains(err.Error(), "module 0 of the Ensemble is nil") {
		t.Errorf("got %v", err)
	}
}

// The ensemble of the best candidates is a module, which can be evaluated and optimized.
func TestEnsembleOfTop(t *testing.T) {
	t.Parallel()
	r := run(t, optimize.BootstrapRandomSearch{
		BootstrapFewShot: optimize.BootstrapFewShot{MaxLabeled: 6}, Candidates: 4,
	}, nil)
	e := optimize.NewEnsemble(r.Top(3))
	e.Vote = func(answers []module.Result[answer]) (*module.Prediction[answer], error) {
		for _, a := range answers {
			if a.Prediction.Output.Text != "unknown" {
				return a.Prediction, nil
			}
		}
		return answers[0].Prediction, nil
	}
	report, err := evaluate.Evaluate(t.Context(), e, numbers(200, 230), right, nil)
	if err != nil || report.Score.Mean < r.Best.Score-0.1 || report.Score.Mean == 0 {
		t.Errorf("the ensemble scored %v, its best module %v: %v", report.Score, r.Best.Score, err)
	}
	paths := 0
	for path := range module.Predictors(e) {
		if want := fmt.Sprintf("Modules[%d]", paths); path != want {
			t.Errorf("path %s, want %s", path, want)
		}
		paths++
	}
}
