package models_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

type wrapper struct {
	name string
	wrap func(t *testing.T, m llms.Model) llms.Model
}

var wrappers = []wrapper{
	{"cache", func(t *testing.T, m llms.Model) llms.Model { return newCache(t).Model(m, "a") }},
	{"retry", func(_ *testing.T, m llms.Model) llms.Model { return models.Retry(m, nil) }},
	{"budget", func(_ *testing.T, m llms.Model) llms.Model {
		return bound(m, budget.Limits{Calls: 100})
	}},
	{"rates", func(_ *testing.T, m llms.Model) llms.Model {
		return models.RateLimit(m, &models.Rates{RequestsPerMinute: 6000, TokensPerMinute: 1e6, Concurrent: 5})
	}},
	{"resume", func(t *testing.T, m llms.Model) llms.Model {
		return openLog(t, filepath.Join(t.TempDir(), "log")).Model(m, "a")
	}},
	{"fallback", func(_ *testing.T, m llms.Model) llms.Model { return models.Fallback(m, script(errRefusing)) }},
}

// orders calls visit with every order of the wrappers.
func orders(list []wrapper, visit func([]wrapper)) {
	var from func(int)
	from = func(i int) {
		if i == len(list) {
			visit(list)
			return
		}
		for j := i; j < len(list); j++ {
			list[i], list[j] = list[j], list[i]
			from(i + 1)
			list[i], list[j] = list[j], list[i]
		}
	}
	from(0)
}

// In every order, the wrappers pass on options, streams, usage, thinking and errors.
func TestEveryOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		orders(append([]wrapper(nil), wrappers...), func(order []wrapper) {
			n++
			names := ""
			around := func(m llms.Model) llms.Model {
				for _, w := range order {
					m = w.wrap(t, m)
				}
				return m
			}
			for _, w := range order {
				names += " " + w.name
			}
			fine := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
				if r.Options.MaxTokens != 7 || r.Options.Temperature != 0.5 {
					t.Errorf("%s: options %+v", names, r.Options)
				}
				return llmtest.Reply{Text: "Paris", Chunks: []string{"Par", "is"}, Reasoning: "France?", InputTokens: 10,
					OutputTokens: 3}, nil
			})
			var h hearing
			call, half := h.call(), 0.5
			call.Temperature = &half
			got, err := lm.Ask(t.Context(), around(fine), call, question("Capital?"), llms.WithMaxTokens(7))
			if err != nil || got.Text != "Paris" || got.Reasoning != "France?" ||
				got.Usage != (lm.Usage{Input: 10, Output: 3}) || got.Cached {
				t.Errorf("%s: got %+v, %v", names, got, err)
			}
			if fmt.Sprint(h.text, h.reasoning) != "[Par is] [France?]" {
				t.Errorf("%s: heard %q, %q", names, h.text, h.reasoning)
			}
			//nolint:staticcheck // deprecated by langchaingo, and yet a part of its interface
			if text, err := around(fine).Call(t.Context(), "Capital?", llms.WithMaxTokens(7),
				llms.WithTemperature(0.5)); err != nil || text != "Paris" {
				t.Errorf("%s: Call: %q, %v", names, text, err)
			}
			if _, err := ask(t.Context(), around(script(errRefusing))); failure(t, err).Kind != models.KindRefused {
				t.Errorf("%s: got %v", names, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			slow := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
				<-ctx.Done()
				return llmtest.Reply{}, nil
			})
			if _, err := ask(ctx, around(slow)); failure(t, err).Kind != models.KindCancelled ||
				err.Error() != "context deadline exceeded" {
				t.Errorf("%s: got %v", names, err)
			}
		})
		if n != 720 {
			t.Errorf("%d orders", n)
		}
	})
}

// In the recommended order, a cached reply costs nothing, every attempt is charged, and an attempt
// that the budget refuses does not wait for the rate limit.
func TestRecommendedOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cache := budget.With(t.Context(), budget.Limits{Calls: 3}), newCache(t)
		inner := script(errOverloaded, errOverloaded)
		model := cache.Model(models.RateLimit(models.Retry(inner, nil), &models.Rates{RequestsPerMinute: 60}), "a")
		if _, err := ask(ctx, model); err != nil {
			t.Fatal(err)
		}
		if got := budget.Of(ctx).Spent().Calls; got != 3 {
			t.Errorf("%d attempts were counted", got)
		}
		start := time.Now()
		if got, err := ask(ctx, model); err != nil || !got.Cached {
			t.Errorf("a cached reply was refused: %+v, %v", got, err)
		}
		if _, err := lm.Ask(ctx, model, lm.Call{}, question("Another?")); !errors.Is(err, budget.ErrSpent) {
			t.Errorf("got %v", err)
		}
		if time.Since(start) != 0 {
			t.Errorf("the refusal took %s", time.Since(start))
		}
	})
}
