package evaluate

import (
	"context"
	"time"
)

// within calls f with a context that ends after the timeout, if the timeout is positive. If the context ends before f
// returns, the error is the cause. If f then ignores its context for a second, within returns the zero value.
func within[T any](
	ctx context.Context, timeout time.Duration, slow error, f func(context.Context) T,
) (value T, ended error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, slow)
		defer cancel()
	}
	done := make(chan T, 1)
	go func() { done <- f(ctx) }()
	select {
	case value = <-done:
	case <-ctx.Done():
		select {
		case value = <-done:
		case <-time.After(time.Second):
		}
	}
	return value, context.Cause(ctx)
}
