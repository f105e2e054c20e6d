package models_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

func TestRateLimitRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := models.RateLimit(script(), &models.Rates{RequestsPerMinute: 60})
		start := time.Now()
		var at []string
		for range 9 {
			mustAsk(t, model, lm.Call{}, question("Capital?"))
			at = append(at, time.Since(start).Round(time.Millisecond).String())
		}
		if got := strings.Join(at, " "); got != "0s 0s 0s 0s 0s 0s 1s 2s 3s" {
			t.Errorf("asked at %s", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := ask(ctx, model)
		if e := failure(t, err); !errors.Is(err, context.DeadlineExceeded) || e.Kind != models.KindCancelled ||
			e.MaybeCharged ||
			err.Error() != "the rate limit requires a wait beyond the deadline: context deadline exceeded (rate: Wait(n=1) "+
				"would exceed context deadline)" {
			t.Errorf("got %+v, %v", e, err)
		}
		if time.Since(start) != 3*time.Second {
			t.Errorf("it waited although the deadline was too early")
		}
	})
}

func TestRateLimitTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		costly := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: "Paris", InputTokens: 300, OutputTokens: 300}, nil
		})
		model := models.RateLimit(costly, &models.Rates{TokensPerMinute: 600})
		start := time.Now()
		for range 3 {
			mustAsk(t, model, lm.Call{}, question("Capital?"))
		}
		// The first call uses up the minute. Each later one waits for its estimate of 2 tokens, and
		// for the actual usage of the previous one.
		if took := time.Since(start).Round(time.Second); took != 60*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// Calls that give up before their turn, because of a deadline or a cancellation, use no tokens.
func TestRateLimitGivesTokensBack(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"too late": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Millisecond)
		},
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Millisecond, cancel)
			return ctx, cancel
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			model := models.RateLimit(script(), &models.Rates{RequestsPerMinute: 60, Burst: 1, TokensPerMinute: 20})
			start := time.Now()
			for i := range 41 {
				ctx, cancel := without(t.Context())
				_, err := ask(ctx, model)
				if cancel(); (err == nil) != (i == 0) {
					t.Fatalf("%s: question %d: %v", name, i, err)
				}
			}
			if _, err := ask(t.Context(), model); err != nil || time.Since(start) != time.Second {
				t.Errorf("%s: asked after %s: %v", name, time.Since(start), err)
			}
		})
	}
}

func TestRateLimitConcurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now, most := make(chan int, 100), 0
		running := make(chan struct{}, 100)
		slow := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			running <- struct{}{}
			now <- len(running)
			time.Sleep(time.Second)
			<-running
			return llmtest.Reply{Text: "Paris"}, nil
		})
		model := models.RateLimit(slow, &models.Rates{Concurrent: 3})
		for range 10 {
			go func() { _, _ = ask(t.Context(), model) }()
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := model.GenerateContent(ctx, question("Capital?")); failure(t, err).Kind != models.KindCancelled {
			t.Errorf("got %v", err)
		}
		for range 10 {
			most = max(most, <-now)
		}
		if most != 3 {
			t.Errorf("%d concurrent calls, want 3", most)
		}
		time.Sleep(10 * time.Second)
	})
}

// When the provider reports that its limit is reached, all calls wait.
func TestRateLimitPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := models.RateLimit(script(limited(20*time.Second)), nil)
		start := time.Now()
		if _, err := ask(t.Context(), model); failure(t, err).Kind != models.KindRateLimited {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := ask(ctx, model); err == nil ||
			err.Error() != "the rate limit requires a wait beyond the deadline: context deadline exceeded (the provider's "+
				"limit is reached for 20s)" {
			t.Errorf("got %v", err)
		}
		if _, err := ask(t.Context(), model); err != nil || time.Since(start) != 20*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// Calls that are already waiting also wait as long as the provider requests, and are then made one
// after the other.
func TestRateLimitPausesTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		asked := make(chan time.Duration, 10)
		inner := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			asked <- time.Since(start)
			if r.N == 1 {
				return llmtest.Reply{}, limited(3 * time.Second)
			}
			return llmtest.Reply{Text: "Paris"}, nil
		})
		model := models.RateLimit(inner, &models.Rates{RequestsPerMinute: 300, Burst: 1, TokensPerMinute: 1000})
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() { _, _ = ask(t.Context(), model) })
		}
		wg.Wait()
		close(asked)
		last := time.Duration(0)
		if first := <-asked; first != 0 {
			t.Errorf("the first call was made after %s", first)
		}
		for at := range asked {
			if at < 3*time.Second || at < last+199*time.Millisecond {
				t.Errorf("a call was made at %s, after one at %s", at, last)
			}
			last = at
		}
	})
}

// The wait that a provider requests is bounded.
func TestRateLimitLongestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := models.RateLimit(script(limited(time.Hour)), nil)
		start := time.Now()
		_, _ = ask(t.Context(), model)
		if _, err := ask(t.Context(), model); err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}
