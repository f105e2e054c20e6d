package optimize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// A search with many workers begins proposals before the earlier ones are decided, and has the result of a search with
// one worker, even if it was killed and continues.
func TestGEPALooksAhead(t *testing.T) {
	t.Parallel()
	length := func(
		_ context.Context, _ evaluate.Example[question, reply], p *module.Prediction[reply],
	) (module.Score, error) {
		return module.Score{Value: float64(len(p.Output.Reply)) / 1000, Feedback: "It must be longer."}, nil
	}
	for seed := range uint64(2) {
		var results []string
		var most atomic.Int64
		for _, killAt := range []int{0, 0, 12} { // the call of the reflection model during which the search is killed
			var asked atomic.Int64
			workers, dir := 16, t.TempDir()
			if len(results) == 0 {
				workers, dir = 1, ""
			}
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
				most.Store(max(most.Load(), asked.Add(1)))
				defer asked.Add(-1)
				if r.N == killAt {
					kill()
				}
				sum := fnv.New32()
				sum.Write([]byte(r.Last()))
				n := sum.Sum32()
				if strings.Contains(r.Last(), asksForFault) {
					return llmtest.Reply{Text: []string{"Draft", "Polish"}[n%2]}, nil
				}
				time.Sleep(10 * time.Millisecond)
				return llmtest.Reply{Text: "Write " + strings.Repeat("more ", int(n%23)) + "now."}, nil
			})
			search := func(ctx context.Context) (*Result[*twoSteps], error) {
				d := Data[question, reply]{questions(30), questions(20)}
				return Run(ctx, newTwoSteps(), GEPA{Iterations: 30}, d, length,
					&Options{Reflection: reflection, Workers: workers, Seed: seed, Dir: dir})
			}
			r, err := search(ctx)
			if killAt > 0 {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("killed: %v", err)
				}
				r, err = search(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r.Candidates)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, fmt.Sprintf("%s %q", text, r.Warnings))
			if ahead := asked.Load(); workers == 1 && most.Load() != 1 || ahead != 0 {
				t.Errorf("%d calls at once with one worker, and %d after the end", most.Load(), ahead)
			}
		}
		for _, result := range results[1:] {
			if result != results[0] {
				t.Errorf("seed %d: with one worker\n%s\nand with sixteen\n%s", seed, results[0], result)
			}
		}
		if most.Load() < 2 {
			t.Error("no proposals were begun early")
		}
	}
}

// Feedback without text blames nobody, and feedback for a frozen predictor leaves the choice to the search.
func TestGEPAWithoutUsefulBlame(t *testing.T) {
	t.Parallel()
	for _, blame := range []map[string]string{{"Draft": "", "Polish": ""}, {"Draft": "It is too short."}} {
		metric := func(
			ctx context.Context, e evaluate.Example[question, reply], p *module.Prediction[reply],
		) (module.Score, error) {
			s, err := longer(ctx, e, p)
			s.For = blame
			return s, err
		}
		r, err := Run(t.Context(), newTwoSteps(), GEPA{Iterations: 3}, Data[question, reply]{questions(20), questions(20)},
			metric, &Options{Reflection: replying("Polish more.", "Polish a lot more."), Frozen: []string{"Draft"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Candidates) < 2 {
			t.Errorf("%v: nothing was rewritten; warnings %q", blame, r.Warnings)
		}
	}
}
