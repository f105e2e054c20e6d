package models

import (
	"context"

	"github.com/writ-go/writ/module/internal/lm"
)

// Error is how a model failed: errors.As finds an *Error in every error that a
// module, or a model of this package, returns because of its model. It has
//
//	Kind         Kind          // what can be done about it
//	Status       int           // HTTP status of the provider's answer, 0 if unknown
//	RetryAfter   time.Duration // how long the provider asks to wait, 0 if it does not say
//	MaybeCharged bool          // the provider may have done the work though its answer
//	                           // did not arrive: asking again may cost a second time
//	Err          error         // the provider's error
//
//	func (e *Error) Error() string   // what kind it is, and what Err says
//	func (e *Error) Temporary() bool // the same question may be answered later
//	func (e *Error) Unwrap() error   // Err
//
// Of a provider of langchaingo, Kind, Status and RetryAfter are read from the text of
// its error, which is all that is left of most; Retry-After headers are lost.
type Error = lm.Error

// PanicError is what an [Error] wraps whose provider has panicked. It has
//
//	Value any    // of the panic
//	Stack []byte // of the goroutine, which the text does not show: that may reach a prompt
//
//	func (e *PanicError) Error() string // what the panic said
//	func (e *PanicError) Unwrap() error // Value, if it is an error
type PanicError = lm.PanicError

// Kind says what can be done about an [Error]. It is a string, and has
//
//	func (k Kind) String() string // "rate limited", "auth", …, "unknown"
type Kind = lm.Kind

// The kinds of error. The first two are worth asking again for, by [Retry].
const (
	KindRateLimited    = lm.KindRateLimited    // ask later, after RetryAfter
	KindTransient      = lm.KindTransient      // the provider, or the way to it, is broken for the moment
	KindContextTooLong = lm.KindContextTooLong // the question does not fit into the model
	KindRefused        = lm.KindRefused        // the model or its provider will not answer this
	KindAuth           = lm.KindAuth           // the key is missing or wrong, may not do this, or is out of credit
	KindInvalid        = lm.KindInvalid        // the provider does not understand the request
	KindCancelled      = lm.KindCancelled      // the context is done; Err is its error
	KindOverBudget     = lm.KindOverBudget     // a budget is used up; Err is a *BudgetError
	KindUnknown        = lm.KindUnknown        // none of these, as far as can be told
)

// WithRollout returns a context whose questions a [Cache] and a recording tell
// apart from the same ones asked with another number. Modules set it themselves.
func WithRollout(ctx context.Context, n int) context.Context { return lm.WithRollout(ctx, n) }
