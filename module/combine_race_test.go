package module_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
)

// sampled is a user's own module: the answer that two of three samples give.
type sampled struct{ Ask *sumPredict }

func (s sampled) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	samples, err := module.Samples(ctx, s.Ask, in, 3, &module.ParallelOptions{Collect: true})
	if len(samples.Predictions()) < 2 || ctx.Err() != nil {
		return nil, err
	}
	return module.Majority(samples.Predictions(), nil)
}

// A thousand runs of each at the same time have each its own answer, and leave
// the module as it was.
func TestCombinationsAtTheSameTime(t *testing.T) {
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

// comparing is echo with reasons.
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
