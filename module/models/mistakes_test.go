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
	limit := func(what string) string {
		return "the model: rate limit: Rates." + what + "; it must not be negative (zero means no limit)"
	}
	for want, model := range map[string]llms.Model{
		"the model: Record has no writer; pass one":                                                      models.Record(script(), nil, nil),
		"the model: the cache is nil; make one with NewCache and check its error":                        cache.Model(script(), "a"),
		"the model: the budget is nil; make one with NewBudget":                                          budget.Model(script(), "a"),
		"the model: the model is a nil *llmtest.Model; check the error of the function that returned it": models.Retry(unmade, nil),
		limit("RequestsPerMinute is -1"):                                                                 models.RateLimit(script(), &models.Rates{RequestsPerMinute: -1}),
		limit("Burst is -2"):                                                                             models.RateLimit(script(), &models.Rates{RequestsPerMinute: 1, Burst: -2}),
		limit("TokensPerMinute is -3"):                                                                   models.RateLimit(script(), &models.Rates{TokensPerMinute: -3}),
		limit("Concurrent is -4"):                                                                        models.RateLimit(script(), &models.Rates{Concurrent: -4}),
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
