package tools

import (
	"context"
	"sync/atomic"
)

// within is the context of a handler, one for each try of a call. It counts the
// effects that were made within it, or may have been: by calls that the handler
// made itself, or that modules made which it ran.
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

// add counts an effect, for all calls around it.
func (w *within) add(n int64) {
	for ; w != nil; w = w.outer {
		w.did.Add(n)
	}
}

// whole is the error of a handler that has acted on its way: it is not known what
// of the call took effect, unless the handler says so by a [ToolError] of its own.
func (w *within) whole(err error) error {
	if te, ok := err.(*ToolError); err == nil || ok && te.Kind != "" || IsFatal(err) || w.did.Load() == 0 {
		return err
	}
	return &actedError{err}
}

// actedError says of an error that something was done before it.
type actedError struct{ err error }

func (e *actedError) Error() string { return e.err.Error() }
func (e *actedError) Unwrap() error { return e.err }

// MayHaveActed implements [PartialError].
func (e *actedError) MayHaveActed() bool { return true }

var _ PartialError = (*actedError)(nil)
