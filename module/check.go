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

// checkError is the error of a signature's checks. If it ends the run, the error is for the caller, and otherwise for
// the model.
type checkError struct {
	error
	ends bool
}

// Unwrap returns the error.
func (e *checkError) Unwrap() error { return e.error }

// decode decodes an answer and applies the checks of its signature. The error of a check is a *checkError.
func decode[In, Out any](
	ctx context.Context, sig *signature.Signature[In, Out], answer json.RawMessage,
) (out Out, err error) {
	if out, err = sig.Decode(answer); err != nil {
		return out, err
	}
	switch err = sig.Check(ctx, out); {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return out, &checkError{lm.ContextError(ctx), true}
	case endsRun(err):
		return out, &checkError{fmt.Errorf("the check of the answer: %w", err), true}
	}
	return out, &checkError{&failures{shorten(err.Error(), maxReason), []error{err}}, false}
}

// endsRun reports whether a check's error is not about the answer, or must not reach the model.
func endsRun(err error) bool {
	_, hidden := errors.AsType[interface {
		error
		HostOnly()
	}](err)
	return hidden || tools.IsFatal(err) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, place.ErrPaused) || errors.Is(err, ErrBudget)
}

// fromCheck returns the error of a check that err is, or nil, and whether it ends the run.
func fromCheck(err error) (check error, ends bool) {
	if e, ok := errors.AsType[*checkError](err); ok {
		return e.error, e.ends
	}
	return nil, false
}
