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

// brokenOff is a connection that broke while the provider was at work.
var brokenOff = &models.Error{Kind: models.KindTransient, MaybeCharged: true, Err: errors.New("connection reset")}

// What one attempt may have cost is not forgotten because of how the last one
// failed.
func TestChargedBefore(t *testing.T) {
	t.Parallel()
	refused := &models.Error{Kind: models.KindAuth, Err: errors.New("no key")}
	for name, wrap := range map[string]func(cancel func()) llms.Model{
		"retry, cancelled in its wait": func(cancel func()) llms.Model {
			return models.Retry(script(brokenOff),
				&models.RetryOptions{OnRetry: func(context.Context, *models.Error, time.Duration) { cancel() }})
		},
		"retry, refused then": func(func()) llms.Model { return models.Retry(script(brokenOff, refused), nil) },
		"retry, refused by a wrapper then": func(func()) llms.Model {
			return models.Retry(script(brokenOff, fmt.Errorf("gateway: %w", refused)), nil)
		},
		"retry, over budget then": func(func()) llms.Model {
			return models.Retry(models.NewBudget(models.Limits{Calls: 1}).Model(script(brokenOff), ""), nil)
		},
		"fallback, cancelled then": func(cancel func()) llms.Model {
			last := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
				cancel()
				return llmtest.Reply{}, lm.CancelledBy(ctx)
			})
			return models.Fallback(script(brokenOff), last)
		},
		"fallback, refused then": func(func()) llms.Model {
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
					t.Errorf("it is not said that it may have been charged: %v", e)
				}
			})
		})
	}
	if brokenOff.Kind != models.KindTransient || refused.MaybeCharged {
		t.Error("an error of the provider's was changed")
	}
}

// A question that is left by the last who waits for it was under way: it may have
// been charged, and nobody else counts it.
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
			t.Error("who leaves the question to another is charged for it")
		}
		leave[1]()
		if !<-charged {
			t.Error("the last who leaves a question is not charged for it")
		}
		if got := budget.Spent(); got.Estimated != 1 {
			t.Errorf("spent %+v, want one estimated", got)
		}
	})
}

// A question that ends with the deadline of who asked first is charged to him, while
// the others ask anew.
func TestChargedDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
			if _, limited := ctx.Deadline(); !limited {
				return llmtest.Reply{Text: "Paris", InputTokens: 7, OutputTokens: 1}, nil
			}
			<-ctx.Done()
			time.Sleep(time.Second) // who waits hears of his deadline first
			return llmtest.Reply{}, ctx.Err()
		})
		budget := models.NewBudget(models.Limits{})
		model := budget.Model(newCache(t, nil).Model(asked, ""), "")
		var wg sync.WaitGroup
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wg.Go(func() {
			if _, err := ask(short, model); !failure(t, err).MaybeCharged {
				t.Errorf("who asked first is not charged: %v", err)
			}
		})
		synctest.Wait()
		long, stop := context.WithTimeout(t.Context(), time.Minute+time.Second/2)
		defer stop()
		wg.Go(func() {
			if _, err := ask(long, model); failure(t, err).MaybeCharged {
				t.Errorf("who waited is charged, too: %v", err)
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

// A failure is charged once, however many wait for the same reply.
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
