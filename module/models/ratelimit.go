package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"golang.org/x/time/rate"
)

// Rates are the limits of [RateLimit]. A zero is no limit. With a negative one every
// question fails, with an error of the kind [KindInvalid].
type Rates struct {
	// RequestsPerMinute is how many questions are asked in a minute.
	RequestsPerMinute int

	// Burst is how many of them may be asked at once after a pause. Zero is a
	// tenth of RequestsPerMinute, at least 1.
	Burst int

	// TokensPerMinute is how many tokens go to and come from the model in a
	// minute. A question waits until there is room for its text, by estimate;
	// what it turns out to have cost makes the later ones wait.
	TokensPerMinute int

	// Concurrent is how many questions are asked at a time.
	Concurrent int
}

// RateLimit makes questions to model wait so that they keep within rates. When
// the provider says for how long its own limit is reached, all wait that long,
// also those that wait already, but no longer than a minute at a time.
// All calls of the model that it returns share one limit.
//
// A question whose turn would come only after its context's deadline fails at
// once, with an *[Error] of the kind [KindCancelled] that is context.DeadlineExceeded.
func RateLimit(model llms.Model, rates *Rates) llms.Model {
	var r Rates
	if rates != nil {
		r = *rates
	}
	l := &rateLimit{model: model, bad: r.check()}
	if r.RequestsPerMinute > 0 {
		l.requests = perMinute(r.RequestsPerMinute, cmp.Or(max(r.Burst, 0), r.RequestsPerMinute/10, 1))
	}
	if r.TokensPerMinute > 0 {
		l.tokens = perMinute(r.TokensPerMinute, r.TokensPerMinute)
	}
	if r.Concurrent > 0 {
		l.slots = make(chan struct{}, r.Concurrent)
	}
	return wrap(model, l.generate)
}

// check finds what would switch a limit off in silence.
func (r Rates) check() error {
	for _, rate := range []struct {
		name string
		n    int
	}{{"RequestsPerMinute", r.RequestsPerMinute}, {"Burst", r.Burst}, {"TokensPerMinute", r.TokensPerMinute}, {"Concurrent", r.Concurrent}} {
		if rate.n < 0 {
			return fmt.Errorf("RateLimit's Rates.%s is %d; it must not be negative, and zero is no limit", rate.name, rate.n)
		}
	}
	return nil
}

func perMinute(n, burst int) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(n)/time.Minute.Seconds()), burst)
}

type rateLimit struct {
	model            llms.Model
	bad              error // of the rates
	requests, tokens *rate.Limiter
	slots            chan struct{}

	mu     sync.Mutex
	paused time.Time // until then, at the provider's wish
}

func (l *rateLimit) generate(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
	if l.bad != nil {
		return nil, &Error{Kind: KindInvalid, Err: l.bad}
	}
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	guess := estimate(messages)
	if err := l.wait(ctx, guess); err != nil {
		return nil, err
	}
	response, err := lm.Generate(ctx, l.model, messages, options...)
	l.learn(response, err, guess)
	return response, err
}

func (l *rateLimit) enter(ctx context.Context) error {
	if l.slots == nil {
		return nil
	}
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return lm.CancelledBy(ctx)
	}
}

func (l *rateLimit) leave() {
	if l.slots != nil {
		<-l.slots
	}
}

// wait takes room for the tokens, and then a turn. Who gets no turn gives the room
// back: it is for others.
func (l *rateLimit) wait(ctx context.Context, tokens int) error {
	if err := l.pause(ctx); err != nil {
		return err
	}
	if l.tokens == nil {
		return l.turn(ctx)
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

// turn takes a turn, and another one if the provider asked for a pause meanwhile.
func (l *rateLimit) turn(ctx context.Context) error {
	for {
		if err := l.pause(ctx); err != nil {
			return err
		}
		if l.requests != nil {
			if err := l.requests.Wait(ctx); err != nil {
				return tooLate(ctx, err)
			}
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

// pause waits as long as the provider asked.
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

// tooLate is the error of a question whose turn does not come.
func tooLate(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return lm.CancelledBy(ctx)
	}
	return &Error{Kind: KindCancelled, Err: fmt.Errorf("the rate limit lets the question wait beyond its deadline: %w (%w)", context.DeadlineExceeded, why)}
}

// maxPause bounds what a provider can ask of all who share a limit.
const maxPause = time.Minute

// learn books what the question cost beyond the guess, and the provider's wish
// to be left alone.
func (l *rateLimit) learn(response *llms.ContentResponse, err error, guess int) {
	if l.tokens != nil {
		usage := lm.UsageOf(response)
		if more := usage.Input + usage.Output - guess; more > 0 {
			l.tokens.ReserveN(time.Now(), min(more, l.tokens.Burst()))
		}
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.Kind == KindRateLimited && e.RetryAfter > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		if until := time.Now().Add(min(e.RetryAfter, maxPause)); until.After(l.paused) {
			l.paused = until
		}
	}
}
