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

// RetryOptions configures [Retry]. Nil and the zero value mean the defaults.
type RetryOptions struct {
	// Attempts is the number of attempts in all. Zero means 4.
	Attempts int

	// MinWait is the wait before the second attempt; it doubles with every further attempt. Up to a tenth is added at
	// random, so that many callers do not retry at once. Zero means half a second.
	MinWait time.Duration

	// MaxWait is the longest wait. If a provider demands a longer wait, there is no further
	// attempt. Zero means one minute.
	MaxWait time.Duration

	// OnRetry, if set, is called before the wait that precedes each further attempt. It may be called concurrently.
	OnRetry func(ctx context.Context, why *Error, wait time.Duration)
}

// Retry returns a model that retries requests that fail with [KindRateLimited] or [KindTransient], after the wait that
// the provider demands, or else after growing waits. It does not retry a request if part of the reply was already
// streamed, or if the context's deadline would pass during the wait. In these cases, it returns the model's last error.
// The error is MaybeCharged if any attempt's error is. The events and the trajectory of a run have the errors of the
// failed attempts with the reply.
func Retry(model llms.Model, o *RetryOptions) llms.Model {
	return lm.Wrap(model, (&retry{model, o.orDefault()}).generate)
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

func (r *retry) generate(ctx context.Context, messages []llms.MessageContent,
	options []llms.CallOption) (*llms.ContentResponse, error) {
	charged := false // any attempt may have been charged
	var failures []*Error
	for attempt := 1; ; attempt++ {
		tapped, tap := lm.NewTap(options)
		response, err := lm.Generate(ctx, r.model, messages, tapped...)
		charged = charged || lm.MaybeCharged(err)
		if tap.Close() > 0 || attempt == r.options.Attempts || !again(err) {
			noteFailed(response, failures)
			return response, lm.Charged(err, charged)
		}
		failed, _ := errors.AsType[*Error](err)
		failures = append(failures, failed)
		if !r.wait(ctx, attempt, err) {
			if ctx.Err() != nil {
				err = lm.CancelledBy(ctx)
			}
			return response, lm.Charged(err, charged)
		}
	}
}

// again reports whether another attempt may succeed.
func again(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Temporary()
}

// wait waits before the next attempt. It returns false if the wait is too long or was interrupted.
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

// sleep reports whether the whole duration has passed.
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
