package models_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

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
			return models.Retry(models.NewBudget(models.Limits{Calls: 1}).Model(script(brokenOff), ""), nil)
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

// If all callers cancel, the call was in progress and may have been charged. Only the last caller
// is charged for it.
func TestChargedFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
			<-ctx.Done()
			return llmtest.Reply{}, ctx.Err()
		})
		budget := models.NewBudget(models.Limits{})
		model := budget.Model(newCache(t, nil).Model(asked, ""), "")
		charged := make(chan bool, 2)
		var leave [2]context.CancelFunc
		for i := range leave {
			var ctx context.Context
			ctx, leave[i] = context.WithCancel(t.Context())
			go func() {
				_, err := model.GenerateContent(ctx, question("Capital?"))
				charged <- failure(t, err).MaybeCharged
			}()
			synctest.Wait()
		}
		leave[0]()
		if <-charged {
			t.Error("a caller that cancels while another waits is charged")
		}
		leave[1]()
		if !<-charged {
			t.Error("the last caller to cancel is not charged")
		}
		if got := budget.Spent(); got.Estimated != 1 {
			t.Errorf("spent %+v, want one estimated", got)
		}
	})
}

// If a call ends with the deadline of its first caller, that caller is charged. The others call
// again.
func TestChargedDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
			if _, limited := ctx.Deadline(); !limited {
				return llmtest.Reply{Text: "Paris", InputTokens: 7, OutputTokens: 1}, nil
			}
			<-ctx.Done()
			time.Sleep(time.Second) // the deadline of the first caller passes first
			return llmtest.Reply{}, ctx.Err()
		})
		budget := models.NewBudget(models.Limits{})
		model := budget.Model(newCache(t, nil).Model(asked, ""), "")
		var wg sync.WaitGroup
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wg.Go(func() {
			if _, err := ask(short, model); !failure(t, err).MaybeCharged {
				t.Errorf("the first caller is not charged: %v", err)
			}
		})
		synctest.Wait()
		long, stop := context.WithTimeout(t.Context(), time.Minute+time.Second/2)
		defer stop()
		wg.Go(func() {
			if _, err := ask(long, model); failure(t, err).MaybeCharged {
				t.Errorf("another caller is charged, too: %v", err)
			}
		})
		wg.Go(func() {
			if got, err := ask(t.Context(), model); err != nil || got.Text != "Paris" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
		wg.Wait()
		if got := budget.Spent(); got.Estimated != 1 || got.OutputTokens != 1 {
			t.Errorf("spent %+v, want one estimated and one counted", got)
		}
	})
}

// A failure is charged once, no matter how many callers wait for the reply.
func TestChargedFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		breaks := make(chan struct{})
		asked := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			<-breaks
			return llmtest.Reply{}, brokenOff
		})
		budget := models.NewBudget(models.Limits{})
		model := budget.Model(newCache(t, nil).Model(asked, ""), "")
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := model.GenerateContent(t.Context(), question("Capital?")); failure(t,
					err).Kind != models.KindTransient {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		close(breaks)
		wg.Wait()
		if got := budget.Spent(); got.Estimated != 1 || got.Calls != 1 || got.Cached != 9 {
			t.Errorf("spent %+v, want one call, estimated, and nine from the cache", got)
		}
	})
}
