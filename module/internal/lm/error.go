package lm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/writ-go/writ/internal/display"
)

// Kind classifies a model's error by what the caller can do about it.
type Kind string

// The kinds of errors. Only the first two are temporary.
const (
	KindRateLimited    Kind = "rate limited"     // retry later
	KindTransient      Kind = "transient"        // a temporary failure of the provider or the network
	KindContextTooLong Kind = "context too long" // the request does not fit into the model's context
	KindRefused        Kind = "refused"          // the model or its provider refuses to answer
	KindAuth           Kind = "auth"             // the key is missing, wrong, not permitted or out of credit
	KindInvalid        Kind = "invalid"          // the request is invalid
	KindCancelled      Kind = "cancelled"        // the context is done
	KindOverBudget     Kind = "over budget"      // a budget is spent; Err is a *budget.Error
	KindUnknown        Kind = ""                 // any other error
)

// String returns the kind; the zero value is "unknown".
func (k Kind) String() string { return cmp.Or(string(k), "unknown") }

// Error is an error from a model. errors.As finds it in every error that a module or a wrapper returns because its
// model failed.
type Error struct {
	// Kind says what the caller can do about the error.
	Kind Kind

	// Status is the HTTP status of the response, or 0 if unknown.
	Status int

	// RetryAfter is the wait that the provider demands, or 0.
	RetryAfter time.Duration

	// MaybeCharged reports that the provider may have done the work although its
	// answer did not arrive, so a retry may cost a second time.
	MaybeCharged bool

	// Err is the provider's error.
	Err error
}

// errSilent replaces a typed nil *Error.
var errSilent = errors.New("the provider returned a nil *Error")

// Error returns the provider's message, after a description of the kind if the message alone may not show it.
func (e *Error) Error() string {
	why := cmp.Or(string(e.Kind), "unknown error")
	if e.Err != nil {
		why = display.Text(e.Err.Error())
	}
	switch e.Kind {
	case KindCancelled, KindOverBudget:
		return why
	case KindRateLimited:
		if e.RetryAfter > 0 {
			wait := e.RetryAfter.Round(time.Millisecond)
			return fmt.Sprintf("the model's rate limit is reached for %s: %s", wait, why)
		}
		return "the model's rate limit is reached: " + why
	case KindContextTooLong:
		return "the prompt is too long for the model: " + why
	case KindRefused:
		return "the model refuses to answer: " + why
	case KindAuth:
		return "the model's provider refuses access: " + why
	}
	return "the model: " + why
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// ForPrograms returns an error's message for programs. It leaves out the provider's message, which may contain
// addresses, keys and paths.
func ForPrograms(e *Error) string {
	return cmp.Or(forPrograms[e.Kind], "the model failed; the reason is not shown")
}

var forPrograms = map[Kind]string{
	KindRateLimited:    "the model is rate limited; make fewer calls at the same time, or wait",
	KindTransient:      "the model cannot be reached at the moment",
	KindContextTooLong: "the prompt is too long for the model; split it",
	KindRefused:        "the model refuses to answer this prompt",
	KindAuth:           "the model's provider denies access for any prompt",
	KindInvalid:        "the model's provider rejects this request",
	KindCancelled:      "the request was cancelled",
	KindOverBudget:     "the budget of the model is used up",
}

// Temporary reports whether the same request may succeed later.
func (e *Error) Temporary() bool { return e.Kind == KindRateLimited || e.Kind == KindTransient }

// MaybeCharged reports whether err is an *[Error] that may have been charged.
func MaybeCharged(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e != nil && e.MaybeCharged
}

// Charged marks err as MaybeCharged if already is set.
func Charged(err error, already bool) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e == nil || !already || e.MaybeCharged {
		return err
	}
	c := *e
	c.MaybeCharged = true
	if err == error(e) {
		return &c
	}
	return &reworded{errors.Join(&c, err), err.Error()} // keep the wrapping error's message
}

// CancelledBy returns the error for a call whose ctx is done.
func CancelledBy(ctx context.Context) *Error {
	return &Error{Kind: KindCancelled, Err: ContextError(ctx)}
}

// ContextError returns why a context is done: its error and its cause.
func ContextError(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}

// Seconds returns a number of seconds as a duration between 0 and a year.
func Seconds(n float64) time.Duration {
	const year = 365 * 24 * 3600
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n, year) * float64(time.Second))
}
