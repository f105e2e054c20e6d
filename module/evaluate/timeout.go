package evaluate

import (
	"context"
	"errors"
	"time"

	"github.com/writ-go/writ/module"
)

var errTimeout = errors.New("the run was stopped")

// within runs a module with a context that ends after the timeout, if the timeout is positive. If the context ends
// before the run, the error is the cause: errTimeout after the timeout. If the module then ignores its context for a
// second, the result is empty.
func within[In, Out any](
	ctx context.Context, timeout time.Duration, m module.Module[In, Out], in In,
) (result module.Result[Out], ended error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
		defer cancel()
	}
	done := make(chan module.Result[Out], 1)
	go func() {
		results, _ := module.Parallel(ctx, m, []In{in}, nil)
		done <- results[0]
	}()
	select {
	case result = <-done:
	case <-ctx.Done():
		select {
		case result = <-done:
		case <-time.After(time.Second):
		}
	}
	return result, context.Cause(ctx)
}
