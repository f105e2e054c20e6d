package models_test

import (
	"context"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models"
)

func TestFallback(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	budget := &models.Error{Kind: models.OverBudget, Err: &models.BudgetError{Limit: "1 call"}}
	for name, c := range map[string]struct {
		ctx    context.Context
		models []llms.Model
		want   string
		kind   models.Kind
	}{
		"the first":   {t.Context(), []llms.Model{script(), script(errKey)}, "Paris", ""},
		"the second":  {t.Context(), []llms.Model{script(errKey), script()}, "Paris", ""},
		"the third":   {t.Context(), []llms.Model{script(errTooLong), script(budget), script()}, "Paris", ""},
		"refused":     {t.Context(), []llms.Model{script(errRefusing), script()}, "the model refuses to answer: blocked: prompt: SAFETY", models.Refused},
		"cancelled":   {cancelled, []llms.Model{script(), script()}, "context canceled", models.Cancelled},
		"none at all": {t.Context(), nil, "the model: a fallback needs models; pass some", models.Invalid},
		"only one":    {t.Context(), []llms.Model{script(errKey)}, "the model's provider refuses access: API returned unexpected status code: 401: Wrong key", models.Auth},
		"all": {t.Context(), []llms.Model{script(errKey), script(limited(20 * time.Second)), script(limited(9 * time.Second))},
			"the model's rate limit is reached, for 9s: all 3 failed: (1) the model's provider refuses access: API returned unexpected status code: 401: Wrong key; " +
				"(2) the model's rate limit is reached, for 20s: slow down; (3) the model's rate limit is reached, for 9s: slow down", models.RateLimited},
	} {
		reply, err := ask(c.ctx, models.Fallback(c.models...))
		got := reply.Text
		if err != nil {
			got = err.Error()
			if failure(t, err).Kind != c.kind {
				t.Errorf("%s: kind %s", name, failure(t, err).Kind)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
