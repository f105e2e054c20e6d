package models_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

func TestFallback(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	spent := &models.Error{Kind: models.KindOverBudget, Err: budget.ErrSpent}
	for name, c := range map[string]struct {
		ctx    context.Context
		models []llms.Model
		want   string
		kind   models.Kind
	}{
		"the first":  {t.Context(), []llms.Model{script(), script(errKey)}, "Paris", ""},
		"the second": {t.Context(), []llms.Model{script(errKey), script()}, "Paris", ""},
		"the third":  {t.Context(), []llms.Model{script(errTooLong), script(spent), script()}, "Paris", ""},
		"refused": {t.Context(), []llms.Model{script(errRefusing), script()},
			"the model refuses to answer: blocked: prompt: SAFETY", models.KindRefused},
		"cancelled": {cancelled, []llms.Model{script(), script()}, "context canceled", models.KindCancelled},
		"no models": {t.Context(), nil, "the model: Fallback has no models; pass at least one", models.KindInvalid},
		"only one": {t.Context(), []llms.Model{script(errKey)},
			"the model's provider refuses access: API returned unexpected status code: 401: Wrong key", models.KindAuth},
		"all": {t.Context(), []llms.Model{script(errKey), script(limited(20 * time.Second)),
			script(limited(9 * time.Second))},
			"the model's rate limit is reached for 9s: all 3 models failed: (1) the model's provider refuses access: API returned " +
				"unexpected status code: 401: Wrong key; " +
				"(2) the model's rate limit is reached for 20s: slow down; (3) the model's rate limit is reached for 9s: slow " +
				"down", models.KindRateLimited},
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

// The error reports that any of the attempts may have been charged.
func TestFallbackCharged(t *testing.T) {
	t.Parallel()
	dial := &models.Error{Kind: models.KindTransient, Err: errors.New("nobody listens")}
	for name, c := range map[string]struct {
		errs    []error
		charged bool
	}{
		"one":     {[]error{errCut, dial}, true},
		"unknown": {[]error{&models.Error{MaybeCharged: true}, dial}, true},
		"none":    {[]error{errKey, dial}, false},
	} {
		_, err := ask(t.Context(), models.Fallback(script(c.errs[0]), script(c.errs[1])))
		if e := failure(t, err); e.Kind != models.KindTransient || e.MaybeCharged != c.charged {
			t.Errorf("%s: got %+v", name, *e)
		}
	}
}

// If one model's rate limit would delay a call beyond its deadline, the next model is called.
func TestFallbackFromRateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := models.RateLimit(script(), &models.Rates{RequestsPerMinute: 1})
		mustAsk(t, limited, lm.Call{}, question("Capital?"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		next := script()
		if reply, err := ask(ctx, models.Fallback(limited, next)); err != nil || reply.Text != "Paris" ||
			len(next.Requests()) != 1 {
			t.Errorf("got %q, %v", reply.Text, err)
		}
	})
}
