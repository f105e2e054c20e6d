package optimize

import (
	"context"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
)

// Only the predictor at fault is rewritten, whether the metric or the reflection model names it. A name that is not that
// of a predictor is not believed.
func TestGEPARewritesThePredictorAtFault(t *testing.T) {
	t.Parallel()
	blaming := func(paths ...string) evaluate.Metric[question, reply] {
		return func(
			ctx context.Context, e evaluate.Example[question, reply], p *module.Prediction[reply],
		) (module.Score, error) {
			s, err := longer(ctx, e, p)
			for _, path := range paths {
				if s.For == nil {
					s.For = map[string]string{}
				}
				s.For[path] = "It must be longer here."
			}
			return s, err
		}
	}
	for _, test := range []struct {
		what     string
		metric   evaluate.Metric[question, reply]
		reply    string // to the question which step is at fault
		rewrites map[string]bool
	}{
		{"the metric names it", blaming("Polish"), "Draft", map[string]bool{"Polish": true}},
		{"the metric names both", blaming("Polish", "Draft"), "Draft", map[string]bool{"Draft": true}},
		{"the reflection model names it", longer, "`Polish`", map[string]bool{"Polish": true}},
		{"nobody names it", longer, "Check", map[string]bool{"Draft": true, "Polish": true}},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
				if strings.Contains(r.Last(), asksForFault) {
					return llmtest.Reply{Text: test.reply}, nil
				}
				return llmtest.Reply{Text: "Write " + strings.Repeat("more and ", r.N) + "more."}, nil
			})
			r, err := Run(t.Context(), newTwoSteps(), GEPA{Iterations: 4, Merges: -1},
				Data[question, reply]{questions(20), questions(20)}, test.metric, &Options{Reflection: reflection})
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"Draft", "Polish"} {
				changed := r.Best.states[path].Instructions != path+"."
				if changed != test.rewrites[path] {
					t.Errorf("%s: rewritten is %v", path, changed)
				}
			}
		})
	}
	_, err := Run(t.Context(), newTwoSteps(), GEPA{}, Data[question, reply]{questions(3), questions(3)},
		blaming("Check"), &Options{Reflection: replying("Draft more.")})
	const want = `optimize: the metric gave feedback for "Check" in Score.For, but the predictors of the module are ` +
		`Draft, Polish`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// GEPA can rewrite all predictors at once, and continue only from the best candidate.
func TestGEPASelection(t *testing.T) {
	t.Parallel()
	reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "Write " + strings.Repeat("more and ", r.N) + "more."}, nil
	})
	r, err := Run(t.Context(), newTwoSteps(), GEPA{Iterations: 3, Merges: -1, FromBest: true, Together: true},
		Data[question, reply]{questions(20), questions(20)}, longer, &Options{Reflection: reflection})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range r.Candidates[1:] {
		if c.By != "GEPA: reflection on Draft and Polish" || c.Parents[0] != i ||
			c.Instructions("Draft") == "Draft." || c.Instructions("Polish") == "Polish." {
			t.Errorf("candidate %d: %+v", i+1, c)
		}
	}
	if len(r.Candidates) < 3 {
		t.Errorf("got %d candidates", len(r.Candidates))
	}
}
