package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// Rates are the limits for [RateLimit]. Zero means no limit. If a value is negative, every call fails with an error of
// kind [KindInvalid].
type Rates struct {
	// RequestsPerMinute is the number of requests per minute.
	RequestsPerMinute int

	// Burst is the number of requests that may be sent at once after a pause. Zero
	// means a tenth of RequestsPerMinute, but at least 1.
	Burst int

	// TokensPerMinute is the number of input and output tokens per minute. A request waits until there is room for its
	// estimated input. Tokens that it uses beyond the estimate delay later requests.
	TokensPerMinute int

	// Concurrent is the number of concurrent requests.
	Concurrent int
}

// RateLimit returns a model whose calls wait as long as the rates require. If the provider reports that its own limit
// is reached, all calls wait as long as the provider demands, but no longer than a minute at a time. All calls to the
// returned model share one limit.
//
// A call that would have to wait beyond its context's deadline fails at once, with an
// *[Error] of kind [KindCancelled] that wraps context.DeadlineExceeded.
func RateLimit(model llms.Model, rates *Rates) llms.Model {
	var r Rates
	if rates != nil {
		r = *rates
	}
	l := &rateLimit{
		model: model, bad: r.check(),
		requests: perMinute(r.RequestsPerMinute, cmp.Or(max(r.Burst, 0), r.RequestsPerMinute/10, 1)),
		tokens:   perMinute(r.TokensPerMinute, r.TokensPerMinute),
		slots:    semaphore.NewWeighted(cmp.Or(int64(max(r.Concurrent, 0)), math.MaxInt64)),
	}
	return lm.Wrap(model, l.generate)
}

// check returns an error for a negative rate.
func (r Rates) check() error {
	for _, rate := range []struct {
		name string
		n    int
	}{
		{"RequestsPerMinute", r.RequestsPerMinute}, {"Burst", r.Burst},
		{"TokensPerMinute", r.TokensPerMinute}, {"Concurrent", r.Concurrent},
	} {
		if rate.n < 0 {
			return fmt.Errorf("rate limit: Rates.%s is %d; it must not be negative (zero means no limit)",
				rate.name, rate.n)
		}
	}
	return nil
}

// perMinute returns a limiter of n events per minute. If n is not positive, there is no limit.
func perMinute(n, burst int) *rate.Limiter {
	if n <= 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(float64(n)/time.Minute.Seconds()), burst)
}

type rateLimit struct {
	model            llms.Model
	bad              error // an invalid rate
	requests, tokens *rate.Limiter
	slots            *semaphore.Weighted

	mu     sync.Mutex
	paused time.Time // the provider demands a pause until then
}

func (l *rateLimit) generate(ctx context.Context, messages []llms.MessageContent,
	options []llms.CallOption) (*llms.ContentResponse, error) {
	if l.bad != nil {
		return nil, &Error{Kind: KindInvalid, Err: l.bad}
	}
	if l.slots.Acquire(ctx, 1) != nil {
		return nil, lm.CancelledBy(ctx)
	}
	defer l.slots.Release(1)
	guess := lm.Estimate(messages)
	if err := l.wait(ctx, guess); err != nil {
		return nil, err
	}
	response, err := lm.Generate(ctx, l.model, messages, options...)
	l.learn(response, err, guess)
	return response, err
}

// wait reserves tokens and then waits until the request may be sent. If the request may not be sent, wait releases the
// tokens.
func (l *rateLimit) wait(ctx context.Context, tokens int) error {
	if err := l.pause(ctx); err != nil {
		return err
	}
	tokens = min(tokens, l.tokens.Burst())
	if err := l.tokens.WaitN(ctx, tokens); err != nil {
		return tooLate(ctx, err)
	}
	err := l.turn(ctx)
	if err != nil {
		l.tokens.ReserveN(time.Now(), -tokens)
	}
	return err
}

// turn waits until a request may be sent, and again if the provider has demanded a pause in the meantime.
func (l *rateLimit) turn(ctx context.Context) error {
	for {
		if err := l.pause(ctx); err != nil {
			return err
		}
		if err := l.requests.Wait(ctx); err != nil {
			return tooLate(ctx, err)
		}
		if l.pausing() <= 0 {
			return nil
		}
	}
}

func (l *rateLimit) pausing() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.paused)
}

// pause waits until the pause of the provider is over.
func (l *rateLimit) pause(ctx context.Context) error {
	wait := l.pausing()
	if wait <= 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return tooLate(ctx, fmt.Errorf("the provider's limit is reached for %s", wait.Round(time.Millisecond)))
	}
	if !sleep(ctx, wait) {
		return lm.CancelledBy(ctx)
	}
	return nil
}

// tooLate returns the error for a call that would have to wait beyond its deadline.
func tooLate(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return lm.CancelledBy(ctx)
	}
	return &Error{Kind: KindCancelled, Err: fmt.Errorf("the rate limit requires a wait beyond the deadline: %w (%w)",
		context.DeadlineExceeded, why)}
}

// maxPause limits the pause that a provider can demand.
const maxPause = time.Minute

// learn records the call's tokens beyond the estimate, and the pause that the provider demands.
func (l *rateLimit) learn(response *llms.ContentResponse, err error, guess int) {
	usage := lm.UsageOf(response)
	if more := usage.Input + usage.Output - guess; more > 0 {
		l.tokens.ReserveN(time.Now(), min(more, l.tokens.Burst()))
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.Kind == KindRateLimited && e.RetryAfter > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		if until := time.Now().Add(min(e.RetryAfter, maxPause)); until.After(l.paused) {
			l.paused = until
		}
	}
}
