package models_test

import (
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// What was put together wrongly is named, and no provider's fault.
func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	var cache *models.Cache
	var budget *models.Budget
	var unmade *llmtest.Model
	for want, model := range map[string]llms.Model{
		"the model: Record has no writer; pass one": models.Record(script(), nil, nil),
		"the model: the cache is nil; make one with NewCache and check its error": cache.Model(script(),
			"a"),
		"the model: the budget is nil; make one with NewBudget": budget.Model(script(),
			"a"),
		"the model: the model is a nil *llmtest.Model; check the error of the function that returned it":      models.Retry(unmade, nil),
		"the model: rate limit: Rates.RequestsPerMinute is -1; it must not be negative (zero means no limit)": models.RateLimit(script(), &models.Rates{RequestsPerMinute: -1}),
		"the model: rate limit: Rates.Burst is -2; it must not be negative (zero means no limit)":             models.RateLimit(script(), &models.Rates{RequestsPerMinute: 1, Burst: -2}),
		"the model: rate limit: Rates.TokensPerMinute is -3; it must not be negative (zero means no limit)":   models.RateLimit(script(), &models.Rates{TokensPerMinute: -3}),
		"the model: rate limit: Rates.Concurrent is -4; it must not be negative (zero means no limit)":        models.RateLimit(script(), &models.Rates{Concurrent: -4}),
	} {
		if _, err := ask(t.Context(), model); failure(t, err).Kind != models.KindInvalid || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if model, err := models.Replay(nil, nil); model != nil || err == nil ||
		err.Error() != "models: Replay has no recording; pass a reader" {
		t.Errorf("got %v, %v", model, err)
	}
}
