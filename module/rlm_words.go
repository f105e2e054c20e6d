package module

import (
	"cmp"
	"context"
	"errors"

	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/tools"
)

// unanswered tells a program why a model did not answer, and the host the cause.
// The program, and so the model that wrote it, is told in words of ours: those of
// a provider may hold addresses, keys and paths.
func unanswered(ctx context.Context, what string, cause, err error) error {
	if ctx.Err() != nil {
		return cause // nobody is there to be told
	}
	te := &tools.ToolError{Kind: tools.KindFailed, Message: what + wording(err)}
	if failure, ok := errors.AsType[*lm.Error](err); errors.Is(err, ErrBudget) || ok && failure.Kind == lm.KindOverBudget {
		te.Kind = "budget"
		te.Message += "; go on without further calls"
	}
	return te.WithCause(cause)
}

func wording(err error) string {
	failure, ok := errors.AsType[*lm.Error](err)
	switch {
	case ok:
		return cmp.Or(failureWords[failure.Kind], "the model failed; the reason is not shown")
	case errors.Is(err, ErrBudget), errors.Is(err, errNothingSaid), errors.Is(err, ErrMaxIters), errors.Is(err, ErrNoAnswer):
		return shorten(err.Error(), maxReason) // which is about what models wrote
	}
	return "this failed; the reason is not shown"
}

// failureWords say what a program can do about a model's error.
var failureWords = map[lm.Kind]string{
	lm.KindRateLimited:    "the model is rate limited; make fewer calls at the same time, or wait",
	lm.KindTransient:      "the model cannot be reached at the moment",
	lm.KindContextTooLong: "the prompt is too long for the model; split it",
	lm.KindRefused:        "the model refuses to answer this prompt",
	lm.KindAuth:           "the model's provider refuses access, whatever the prompt",
	lm.KindInvalid:        "the model's provider rejects this request",
	lm.KindCancelled:      "the question was cancelled",
	lm.KindOverBudget:     "the budget of the model is used up",
}
