package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module/budget"
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
	err = sig.Check(ctx, out)
	var hidden interface{ HostOnly() }
	switch is := func(reason error) bool { return errors.Is(err, reason) }; {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return out, &checkError{lm.ContextError(ctx), true}
	case tools.IsFatal(err), errors.As(err, &hidden), is(context.Canceled), is(context.DeadlineExceeded),
		is(place.ErrPaused), is(budget.ErrSpent):
		return out, &checkError{fmt.Errorf("the check of the answer: %w", err), true}
	}
	return out, &checkError{&failures{shorten(err.Error(), maxReason), []error{err}}, false}
}

// fromCheck returns the error of a check that err is, or nil, and whether it ends the run.
func fromCheck(err error) (check error, ends bool) {
	if e, ok := errors.AsType[*checkError](err); ok {
		return e.error, e.ends
	}
	return nil, false
}
