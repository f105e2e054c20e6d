package models_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// brokenOff is the error of a connection that broke while the provider was working.
var brokenOff = &models.Error{Kind: models.KindTransient, MaybeCharged: true, Err: errors.New("connection reset")}

// The possible charge of an attempt is reported even if a later attempt fails in another way.
func TestChargedBefore(t *testing.T) {
	t.Parallel()
	refused := &models.Error{Kind: models.KindAuth, Err: errors.New("no key")}
	for name, wrap := range map[string]func(cancel func()) llms.Model{
		"retry, then cancelled": func(cancel func()) llms.Model {
			return models.Retry(script(brokenOff),
				&models.RetryOptions{OnRetry: func(context.Context, *models.Error, time.Duration) { cancel() }})
		},
		"retry, then refused": func(func()) llms.Model { return models.Retry(script(brokenOff, refused), nil) },
		"retry, then refused by a wrapper": func(func()) llms.Model {
			return models.Retry(script(brokenOff, fmt.Errorf("gateway: %w", refused)), nil)
		},
		"retry, then over budget": func(func()) llms.Model {
			return models.Retry(bound(script(brokenOff), budget.Limits{Calls: 1}), nil)
		},
		"fallback, then cancelled": func(cancel func()) llms.Model {
			last := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
				cancel()
				return llmtest.Reply{}, lm.CancelledBy(ctx)
			})
			return models.Fallback(script(brokenOff), last)
		},
		"fallback, then refused": func(func()) llms.Model {
			return models.Fallback(script(brokenOff), script(&models.Error{Kind: models.KindRefused, Err: errors.New("no")}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				_, err := wrap(cancel).GenerateContent(ctx, question("Capital?"))
				if e := failure(t, err); !e.MaybeCharged {
					t.Errorf("MaybeCharged is not set: %v", e)
				}
			})
		})
	}
	if brokenOff.Kind != models.KindTransient || refused.MaybeCharged {
		t.Error("the provider's error was changed")
	}
}
