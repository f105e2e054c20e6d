package optimize_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
)

// unreliable is a student whose line is bad always or at times, as its instructions say. Without such instructions, its
// answers are wrong.
func unreliable() predict {
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		var n int
		_, _ = fmt.Sscanf(inputOf(r.Last(), "number"), "%d", &n) // 0 without a number
		atTimes := strings.Contains(r.Text(), "Fail at times.")
		switch {
		case strings.Contains(r.Text(), "Fail always."), atTimes && n%5 == 0:
			return llmtest.Reply{}, errors.New("the line is bad")
		case atTimes:
			return reply("text", nameOf(n)), nil
		}
		return reply("text", "unknown"), nil
	})
	return module.NewPredict(spelled, model, nil)
}

// A candidate that fails on everything is not better than a module with negative scores.
func TestNegativeScores(t *testing.T) {
	t.Parallel()
	penalty := func(
		_ context.Context, e evaluate.Example[question, answer], _ *module.Prediction[answer],
	) (module.Score, error) {
		return module.Score{Value: float64(100 - e.In.Number)}, nil // 0 to -19
	}
	r, err := optimize.Run(t.Context(), unreliable(), proposing("Predictor", "Fail always."), numbersData(), penalty, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`the metric returned the score -1 for example "n101" of Val; negative scores count as 0, like failed runs, ` +
			`so shift or clamp the scores of the metric`,
		"no other candidate is better than the original module, which is the result",
	}
	if !slices.Equal(r.Warnings, want) || r.Best.ID != 0 || r.Best.Score != 0 {
		t.Errorf("best %d with %v, warnings: %q", r.Best.ID, r.Best.Score, r.Warnings)
	}
}

// Scores of percent look right to every threshold.
func TestScoresAboveOne(t *testing.T) {
	t.Parallel()
	percent := func(
		_ context.Context, e evaluate.Example[question, answer], _ *module.Prediction[answer],
	) (module.Score, error) {
		return module.Score{Value: float64(e.In.Number)}, nil // up to 119
	}
	r, err := optimize.Run(t.Context(), unreliable(), proposing("Predictor", "Say it."), numbersData(), percent, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "the metric returned the score 119, but optimizers treat a score of 1 as right; " +
		"divide the scores by the highest one"
	if !slices.Contains(r.Warnings, want) {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

func TestMoreFailures(t *testing.T) {
	t.Parallel()
	r, err := optimize.Run(t.Context(), unreliable(), proposing("Predictor", "Fail at times."), numbersData(), right, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "the result fails on 4 of 20 examples of Val, more than the original module, which fails on 0; " +
		"evaluate both to see the errors before you use the result"
	if len(r.Warnings) != 1 || r.Warnings[0] != want || r.Best.Score != 0.8 {
		t.Errorf("scored %v, warnings: %q", r.Best.Score, r.Warnings)
	}
}

// The IDs of candidates are their places in the result, whatever was tried in between.
func TestCandidateIDs(t *testing.T) {
	t.Parallel()
	by := optimize.OptimizerFunc(func(ctx context.Context, task *optimize.Task) error {
		parent := task.Start()
		for _, text := range []string{"One.", "sevenths", "Two.", "sevenths", "Three."} {
			c := task.New(parent, "test")
			s := c.States()["Predictor"]
			s.Instructions = text
			c.States()["Predictor"] = s
			if c.ID != -1 {
				t.Errorf("the ID is %d before it is accepted", c.ID)
			}
			parent = c
			if text == "Two." {
				continue // not accepted
			}
			if err := task.Accept(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	r := run(t, by, nil)
	got := ""
	for _, c := range r.Candidates {
		got += fmt.Sprintf("%d%v%s ", c.ID, c.Parents, c.States()["Predictor"].Instructions)
	}
	if want := "0[]Name the number. 1[0]One. 2[1]sevenths 3[2]Three. "; got != want || r.Best.ID != 2 {
		t.Errorf("got %s, best %d, want %s", got, r.Best.ID, want)
	}
}

// An estimate is the most that a search can take.
func TestEstimate(t *testing.T) {
	t.Parallel()
	small := optimize.BootstrapFewShot{MaxLabeled: 5}
	for _, c := range []struct {
		by     optimize.Optimizer
		budget int
		want   string
	}{
		{optimize.LabeledFewShot{}, 0, "at most 20 student calls ("},
		{small, 0, "at most 34 student calls ("},
		{optimize.BootstrapRandomSearch{BootstrapFewShot: small, Candidates: 3}, 0, "at most 156 student calls ("},
		{optimize.BootstrapRandomSearch{BootstrapFewShot: small, Candidates: 3}, 100,
			"at most 80 student calls; they cost about 0.0116, and more if prompts become longer ("},
		{optimize.KNNFewShot{Bootstrap: true}, 0, "at most 34 student calls ("},
		{optimize.GEPA{Iterations: 2}, 0, "at most 74 student calls, 4 reflection calls ("},
		{optimize.MIPROv2{Instructions: 2, Trials: 4}, 0, "at most 114 student calls, 3 reflection calls ("},
	} {
		var progress strings.Builder
		advisor := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: fmt.Sprint("Advice ", r.N)}, nil
		})
		o := &optimize.Options{
			Budget: optimize.Budget{StudentCalls: c.budget}, Progress: &progress, Reflection: advisor,
		}
		if c.budget > 0 {
			o.Prices = map[string]budget.Price{"": {Input: 1, Output: 1}}
		}
		r := run(t, c.by, o)
		var most int
		_, after, _ := strings.Cut(progress.String(), "optimize: estimate: the rest of the search takes ")
		if _, err := fmt.Sscanf(after, "at most %d", &most); err != nil || !strings.HasPrefix(after, c.want) {
			t.Errorf("%T: got %s, want %s", c.by, after, c.want)
		}
		if priced := "; they cost about "; strings.Contains(after, priced) != (c.budget > 0) {
			t.Errorf("%T: got %s", c.by, after)
		}
		if n := r.Spent.StudentCalls - 20; n > most {
			t.Errorf("%T: %d calls, estimated %d", c.by, n, most)
		}
	}
}
