package models

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// RetryOptions configures [Retry]. The zero value, and nil, are the defaults.
type RetryOptions struct {
	// Attempts is how often a question is asked in all. Zero is 4.
	Attempts int

	// MinWait is how long to wait before the second attempt; it doubles with
	// every further one. Up to a tenth is added by chance, so that many callers
	// don't come back at once. Zero is half a second.
	MinWait time.Duration

	// MaxWait is the longest wait. A provider that asks to wait longer is not
	// asked again. Zero is one minute.
	MaxWait time.Duration

	// OnlyUncharged leaves alone what may have been charged: answers that were
	// on the way when the connection broke. A retry may pay for those twice.
	OnlyUncharged bool

	// OnRetry, if set, is told why and after what wait a question is asked
	// again. It may be called concurrently.
	OnRetry func(ctx context.Context, why *Error, wait time.Duration)
}

// Retry asks model again when its error is [KindRateLimited] or [KindTransient], after the
// wait that the provider asks for, or else after growing ones. It does not if a
// part of the reply was already streamed, or if the context's deadline comes
// before the wait is over: then the error is the model's last one. It is
// MaybeCharged if the error of any attempt is.
func Retry(model llms.Model, o *RetryOptions) llms.Model {
	return wrap(model, (&retry{model, o.orDefault()}).generate)
}

func (o *RetryOptions) orDefault() RetryOptions {
	var c RetryOptions
	if o != nil {
		c = *o
	}
	c.Attempts = cmp.Or(max(c.Attempts, 0), 4)
	c.MinWait = cmp.Or(max(c.MinWait, 0), 500*time.Millisecond)
	c.MaxWait = cmp.Or(max(c.MaxWait, 0), time.Minute)
	return c
}

type retry struct {
	model   llms.Model
	options RetryOptions
}

func (r *retry) generate(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
	charged := false // for any attempt, maybe
	for attempt := 1; ; attempt++ {
		tapped, tap := lm.NewTap(options)
		response, err := lm.Generate(ctx, r.model, lm.Copied(messages), tapped...)
		charged = charged || lm.MaybeCharged(err)
		if tap.Close() || attempt == r.options.Attempts || !r.again(err) {
			return response, lm.Charged(err, charged)
		}
		if !r.wait(ctx, attempt, err) {
			if ctx.Err() != nil {
				err = lm.CancelledBy(ctx)
			}
			return response, lm.Charged(err, charged)
		}
	}
}

// again reports whether an error is worth another attempt.
func (r *retry) again(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Temporary() && !(e.MaybeCharged && r.options.OnlyUncharged)
}

// wait reports whether it came to its end, or else at once that it would not.
func (r *retry) wait(ctx context.Context, attempt int, err error) bool {
	e := (*Error)(nil)
	errors.As(err, &e)
	wait := e.RetryAfter
	if wait <= 0 {
		wait = r.options.backoff(attempt)
	}
	if wait > r.options.MaxWait {
		return false
	}
	wait += min(time.Duration(rand.Int64N(int64(wait)/10+1)), math.MaxInt64-wait)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return false
	}
	if r.options.OnRetry != nil {
		r.options.OnRetry(ctx, e, wait)
	}
	return sleep(ctx, wait)
}

func (o *RetryOptions) backoff(attempt int) time.Duration {
	wait := o.MinWait
	for n := 1; n < attempt && wait < o.MaxWait; n++ {
		wait += min(wait, o.MaxWait-wait)
	}
	return min(wait, o.MaxWait)
}

// sleep reports whether it was not disturbed.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
