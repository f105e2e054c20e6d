package tools

import (
	"context"
	"sync/atomic"
)

// within is the context of one call of a handler. It counts the calls made with that context
// that had effects, or may have had: by the handler itself, or by modules that it ran.
type within struct {
	context.Context
	outer *within
	did   atomic.Int64
}

type withinKey struct{}

func withinOf(ctx context.Context) *within {
	w, _ := ctx.Value(withinKey{}).(*within)
	return w
}

// Value implements [context.Context].
func (w *within) Value(key any) any {
	if key == (withinKey{}) {
		return w
	}
	return w.Context.Value(key)
}

// add adds n to the number of effects of w and all enclosing handlers.
func (w *within) add(n int64) {
	for ; w != nil; w = w.outer {
		w.did.Add(n)
	}
}

// whole returns the error of a handler as a [PartialError] if effects happened within it,
// unless the error is a [ToolError] with a kind.
func (w *within) whole(err error) error {
	if te, ok := err.(*ToolError); err == nil || ok && te.Kind != "" || IsFatal(err) || w.did.Load() == 0 {
		return err
	}
	return &actedError{err}
}

// actedError marks an error that followed an effect.
type actedError struct{ err error }

func (e *actedError) Error() string { return e.err.Error() }
func (e *actedError) Unwrap() error { return e.err }

// MayHaveActed implements [PartialError].
func (e *actedError) MayHaveActed() bool { return true }

var _ PartialError = (*actedError)(nil)
