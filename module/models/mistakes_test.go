package models_test

import (
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// Incorrect calls of this package are invalid calls, and the error names the mistake.
func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	var store *models.Store
	var unmade *llmtest.Model
	for _, test := range []struct {
		model llms.Model
		want  string
	}{
		{store.Model(script(), "a"), "the store is nil; check OpenStore's error"},
		{models.Retry(unmade, nil), "the model is a nil *llmtest.Model; check the error of the function that returned it"},
		{models.RateLimit(script(), &models.Rates{RequestsPerMinute: -1}),
			"rate limit: Rates.RequestsPerMinute is -1; it must not be negative (zero means no limit)"},
		{models.RateLimit(script(), &models.Rates{RequestsPerMinute: 1, Burst: -2}),
			"rate limit: Rates.Burst is -2; it must not be negative (zero means no limit)"},
		{models.RateLimit(script(), &models.Rates{TokensPerMinute: -3}),
			"rate limit: Rates.TokensPerMinute is -3; it must not be negative (zero means no limit)"},
		{models.RateLimit(script(), &models.Rates{Concurrent: -4}),
			"rate limit: Rates.Concurrent is -4; it must not be negative (zero means no limit)"},
	} {
		_, err := ask(t.Context(), test.model)
		if want := "the model: " + test.want; failure(t, err).Kind != models.KindInvalid || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
