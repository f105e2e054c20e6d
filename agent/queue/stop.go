package queue

import (
	"context"
	"errors"
)

// until returns a context that is also canceled, with the cause [ErrStopped], when stop is done, and a function that
// releases its resources.
func until(ctx, stop context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unlink := context.AfterFunc(stop, func() { cancel(ErrStopped) })
	return ctx, func() {
		unlink()
		cancel(nil)
	}
}

type stopKey struct{}

// WithStop returns a context that is also canceled, with the cause [ErrStopped], when stop is done, and a function that
// releases its resources. From that moment on, no call with this context begins.
func WithStop(ctx, stop context.Context) (context.Context, func()) {
	return until(context.WithValue(ctx, stopKey{}, stop), stop)
}

// isStopping reports whether the stop of a context from [WithStop] is done. The context is canceled a moment later.
func isStopping(ctx context.Context) bool {
	stop, ok := ctx.Value(stopKey{}).(context.Context)
	return ok && stop.Err() != nil
}

var errPanicked = errors.New("the call panicked")
