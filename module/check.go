package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// decode decodes an answer and applies the checks of its signature. If a check returns an error that the model can fix,
// the error is a *checkError; if it ends the run, it is an *endError.
func decode[In, Out any](
	ctx context.Context, sig *signature.Signature[In, Out], answer json.RawMessage,
) (out Out, err error) {
	if out, err = sig.Decode(answer); err != nil {
		return out, err
	}
	if err = sig.Check(ctx, out); err == nil {
		return out, nil
	}
	var zero Out
	switch {
	case ctx.Err() != nil:
		return zero, &endError{lm.ContextError(ctx)}
	case endsRun(err):
		return zero, &endError{fmt.Errorf("the check of the answer: %w", err)}
	}
	return zero, &checkError{err}
}

// endsRun reports whether a check's error is not about the answer, or must not reach the model.
func endsRun(err error) bool {
	for _, reason := range []error{context.Canceled, context.DeadlineExceeded, place.ErrPaused, ErrBudget} {
		if errors.Is(err, reason) {
			return true
		}
	}
	_, hidden := errors.AsType[interface {
		error
		HostOnly()
	}](err)
	return hidden || tools.IsFatal(err)
}

// endOf returns the error with which a check ends the run, or nil.
func endOf(err error) error {
	if end, ok := errors.AsType[*endError](err); ok {
		return end.error
	}
	return nil
}

// endError is an error from a check that ends the run.
type endError struct{ error }

// Unwrap returns the check's error.
func (e *endError) Unwrap() error { return e.error }

// checkError is an error from a check, for the model.
type checkError struct{ err error }

// Error returns the check's message, which may be long.
func (e *checkError) Error() string { return shorten(e.err.Error(), maxReason) }

// Unwrap returns the check's error.
func (e *checkError) Unwrap() error { return e.err }

func fromCheck(err error) bool {
	_, ok := errors.AsType[*checkError](err)
	return ok
}
