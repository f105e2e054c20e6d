package dispatch

import (
	"context"
	"sync/atomic"

	"github.com/writ-go/writ/tools"
)

// effectCounter counts the calls that have or may have an effect, among those that the handler of a call makes with its
// context, directly or through a module.
type effectCounter struct {
	outer *effectCounter
	count atomic.Int64
}

type effectCounterKey struct{}

func effectCounterOf(ctx context.Context) *effectCounter {
	c, _ := ctx.Value(effectCounterKey{}).(*effectCounter)
	return c
}

// add adds n to the effect counts of c and all enclosing handlers.
func (c *effectCounter) add(n int64) {
	for ; c != nil; c = c.outer {
		c.count.Add(n)
	}
}

// mark wraps a handler's error in an [actedError] if the handler made calls that may have had an effect. It returns a
// fatal error, a RecordedError, and a [tools.ToolError] with a kind, unchanged.
func (c *effectCounter) mark(err error) error {
	te, ok := err.(*tools.ToolError)
	_, known := err.(*RecordedError)
	if err == nil || known || ok && te.Kind != "" || tools.IsFatal(err) || c.count.Load() == 0 {
		return err
	}
	return &actedError{err}
}

// RecordedError wraps the error of a handler that ran a module, if the outcome of all calls that the module made is
// known, and a repeated call finds them in their journals. The call counts as failed.
type RecordedError struct{ Err error }

// Error returns the wrapped error's text.
func (e *RecordedError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *RecordedError) Unwrap() error { return e.Err }

// actedError marks an error that followed an effect.
type actedError struct{ err error }

func (e *actedError) Error() string { return e.err.Error() }
func (e *actedError) Unwrap() error { return e.err }

// MayHaveActed reports that the error may have followed an effect: see [tools.Handler].
func (e *actedError) MayHaveActed() bool { return true }
