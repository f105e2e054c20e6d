package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
)

// sampled is a user's module: the answer on which two of three samples agree.
type sampled struct{ Ask *sumPredict }

func (s sampled) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	samples, err := module.Samples(ctx, s.Ask, in, 3, &module.ParallelOptions{Collect: true})
	if len(slices.DeleteFunc(samples, func(r module.Result[sum]) bool { return r.Err != nil })) < 2 || ctx.Err() != nil {
		return nil, err
	}
	return module.Majority(samples, nil)
}

// A thousand concurrent runs each get their own answer and leave the module unchanged.
func TestCombinationsConcurrently(t *testing.T) {
	t.Parallel()
	ask := func() *sumPredict { return module.NewPredict(adding, echo(), nil) }
	hinting := func(_ context.Context, in orders, pred *module.Prediction[sum]) (module.Score, error) {
		if pred.Output.Total != in.Limit {
			return module.Score{}, fmt.Errorf("got the answer %d to %d", pred.Output.Total, in.Limit)
		}
		return module.Score{Value: float64(in.Limit) / 100, Feedback: fmt.Sprintf("once more, %d", in.Limit)}, nil
	}
	for name, m := range map[string]module.Module[orders, sum]{
		"BestOfN":              module.NewBestOfN(ask(), 2, hinting, .5, nil),
		"Refine":               module.NewRefine(ask(), 2, hinting, .5, nil),
		"MultiChainComparison": module.NewMultiChainComparison(adding, ask(), 2, comparing(), nil),
		"Samples and Majority": sampled{ask()},
		"all of them":          module.NewBestOfN(module.NewRefine(sampled{ask()}, 2, hinting, .5, nil), 2, hinting, .9, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := save(t, m)
			thousand(t, m)
			if after := save(t, m); after != before {
				t.Errorf("the module was changed:\n%s", after)
			}
		})
	}
	t.Run("Parallel", func(t *testing.T) {
		t.Parallel()
		var inputs []orders
		for i := range 1000 {
			inputs = append(inputs, orders{Limit: 20 + i%80})
		}
		results, err := module.Parallel(t.Context(), ask(), inputs, &module.ParallelOptions{Workers: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if r.Prediction.Output.Total != inputs[i].Limit {
				t.Errorf("got %d for %d", r.Prediction.Output.Total, inputs[i].Limit)
			}
		}
	})
}

func thousand(t *testing.T, m module.Module[orders, sum]) {
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			in := orders{Limit: 20 + i%80}
			pred, err := m.Run(t.Context(), in)
			if err != nil || pred.Output.Total != in.Limit {
				t.Errorf("got %v and %v for %d", pred, err, in.Limit)
			}
		})
	}
	all.Wait()
}

// comparing is like echo, with reasoning.
func comparing() *llmtest.Model {
	said := echo()
	return llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		c, err := said.GenerateContent(ctx, r.Messages)
		if err != nil {
			return llmtest.Reply{}, err
		}
		return llmtest.Reply{Text: "[[ ## reasoning ## ]]\nAll say so.\n\n" + c.Choices[0].Content}, nil
	})
}

// never is a reward of 0 without feedback.
func never(context.Context, orders, *module.Prediction[sum]) (module.Score, error) {
	return module.Score{}, nil
}

// advised replies to everything that combined modules ask: with advice for each part, with a
// comparison, or with total 1.
func advised(r llmtest.Request) string {
	text := r.Text()
	switch {
	case strings.Contains(text, "The parts of the program:"):
		advice := map[string]string{}
		for _, part := range regexp.MustCompile(`(?m)^(\S+)\n- inputs: `).FindAllStringSubmatch(text, -1) {
			advice[part[1]] = "more"
		}
		raw, _ := json.Marshal(map[string]any{"discussion": "?", "advice": advice})
		return string(raw)
	case strings.Contains(text, "## reasoning ##"):
		return `{"reasoning": "?", "total": 1}`
	}
	return `{"total": 1}`
}

// combined returns modules that call the model at least four times.
func combined(model llms.Model) map[string]module.Module[orders, sum] {
	one := module.NewPredict(adding, model, nil)
	return map[string]module.Module[orders, sum]{
		"BestOfN":              module.NewBestOfN(one, 4, never, 1, nil),
		"Refine":               module.NewRefine(one, 3, never, 1, nil),
		"MultiChainComparison": module.NewMultiChainComparison(adding, one, 3, model, nil),
		"Samples and Majority": module.NewBestOfN(sampled{one}, 2, never, 1, nil),
	}
}

// Whenever the context is cancelled, the run ends with that error and has every call that was made.
func TestCombinationsCancelled(t *testing.T) {
	t.Parallel()
	for name := range combined(nil) {
		for when := 1; when <= 4; when++ {
			ctx, cancel := context.WithCancel(t.Context())
			model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
				if r.N == when {
					cancel()
					<-ctx.Done()
				}
				return llmtest.Reply{Text: advised(r)}, nil
			})
			pred, err := combined(model)[name].Run(ctx, anything)
			cancel()
			var part *module.IncompleteError
			if !errors.As(err, &part) || !errors.Is(err, context.Canceled) || pred != nil {
				t.Errorf("%s, cancelled at request %d: got %v and %v", name, when, pred, err)
				continue
			}
			if got, want := part.Trajectory.Usage().Calls, len(model.Requests()); got < want {
				t.Errorf("%s, cancelled at request %d: %d of %d calls are accounted for", name, when, got, want)
			}
		}
	}
}

// A run that is cancelled says so, even if an attempt failed before.
func TestContestsCancelled(t *testing.T) {
	t.Parallel()
	bad := errors.New("a bad answer")
	for _, kind := range []string{"BestOfN", "Refine"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the user disconnected")
		leaving := func(context.Context, orders, *module.Prediction[sum]) (module.Score, error) {
			cancel(gone)
			return module.Score{}, bad
		}
		one := module.NewPredict(adding, llmtest.New(fits), nil)
		var m module.Module[orders, sum] = module.NewBestOfN(one, 3, leaving, 1, nil)
		if kind == "Refine" {
			m = module.NewRefine(one, 3, leaving, 1, nil)
		}
		_, err := m.Run(ctx, anything)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, gone) || !errors.Is(err, bad) ||
			err.Error() != "module: no answer after 1 run: context canceled: the user disconnected; before that, the "+
				"reward: a bad answer" {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

// refusing is the smallest budget that suffices for an answer, for each module.
var refusing = map[string]int{"MultiChainComparison": 1, "Samples and Majority": 1}

// If the budget runs out, the run returns the best answer so far or an error that says so.
func TestCombinationsOutOfBudget(t *testing.T) {
	t.Parallel()
	for name := range combined(nil) {
		answers, refusals := 0, 0
		for calls := 1; calls <= 8; calls++ {
			asked := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
				return llmtest.Reply{Text: advised(r)}, nil
			})
			ctx := budget.With(t.Context(), budget.Limits{Calls: calls})
			pred, err := combined(asked)[name].Run(ctx, anything)
			switch {
			case err == nil && pred.Output.Total == 1:
				answers++
			case pred == nil && errors.Is(err, budget.ErrSpent):
				refusals++
			default:
				t.Errorf("%s, with a budget of %d calls: got %v and %v", name, calls, pred, err)
			}
			if n := len(asked.Requests()); n > calls {
				t.Errorf("%s, with a budget of %d calls: got %d", name, calls, n)
			}
			if got := usageOf(t, pred, err).Calls; got != len(asked.Requests()) {
				t.Errorf("%s, with a budget of %d calls: %d of %d calls are accounted for", name, calls, got, len(asked.Requests()))
			}
		}
		if least := refusing[name]; answers == 0 || refusals < least {
			t.Errorf("%s: %d answers and %d errors", name, answers, refusals)
		}
	}
}
