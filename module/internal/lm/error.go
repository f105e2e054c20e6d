package lm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind says who can do what about a model's error.
type Kind string

// The kinds of error. Only the first two are worth asking again.
const (
	KindRateLimited    Kind = "rate limited"     // ask later
	KindTransient      Kind = "transient"        // the provider or the way to it is broken for the moment
	KindContextTooLong Kind = "context too long" // the question does not fit into the model
	KindRefused        Kind = "refused"          // the model or its provider will not answer this
	KindAuth           Kind = "auth"             // the key is missing or wrong, may not do this, or is out of credit
	KindInvalid        Kind = "invalid"          // the provider does not understand the request
	KindCancelled      Kind = "cancelled"        // the context is done
	KindOverBudget     Kind = "over budget"      // a budget of ours is used up
	KindUnknown        Kind = ""                 // none of these, as far as can be told
)

// String is the kind, in words that can be told: the zero value is "unknown".
func (k Kind) String() string { return cmp.Or(string(k), "unknown") }

// Error is how a model failed. errors.As finds it in every error that a module
// or a wrapped model returns because of its model.
type Error struct {
	// Kind is what can be done about it.
	Kind Kind

	// Status is the HTTP status of the provider's answer, 0 if unknown.
	Status int

	// RetryAfter is how long the provider asks to wait, 0 if it does not say.
	RetryAfter time.Duration

	// MaybeCharged says that the provider may have done the work though its
	// answer did not arrive, so that asking again may cost a second time.
	MaybeCharged bool

	// Err is the provider's error.
	Err error
}

// errSilent is what a typed nil *Error says.
var errSilent = errors.New("it failed, with an *Error that is nil")

// Error says what kind of error it is, where the provider's own message might
// not, and then that message.
func (e *Error) Error() string {
	why := cmp.Or(string(e.Kind), "unknown error")
	if e.Err != nil {
		why = e.Err.Error()
	}
	switch e.Kind {
	case KindCancelled, KindOverBudget:
		return why
	case KindRateLimited:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("the model's rate limit is reached, for %s: %s", e.RetryAfter.Round(time.Millisecond), why)
		}
		return "the model's rate limit is reached: " + why
	case KindContextTooLong:
		return "the question is too long for the model: " + why
	case KindRefused:
		return "the model refuses to answer: " + why
	case KindAuth:
		return "the model's provider refuses access: " + why
	}
	return "the model: " + why
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same question may be answered if it is asked
// again.
func (e *Error) Temporary() bool { return e.Kind == KindRateLimited || e.Kind == KindTransient }

// MaybeCharged reports whether err is an *[Error] that is.
func MaybeCharged(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e != nil && e.MaybeCharged
}

// Charged returns err as that of a call of which a part may have been charged
// already, if it was.
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
	return &reworded{errors.Join(&c, err), err.Error()} // a wrapper of somebody else's says more
}

// CancelledBy is the error of a call whose ctx is done: ctx's error, and the
// cause if it has another.
func CancelledBy(ctx context.Context) *Error {
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return &Error{Kind: KindCancelled, Err: err}
}
