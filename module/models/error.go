package models

import (
	"github.com/writ-go/writ/module/internal/lm"
)

// Error is an error from a model. errors.As finds an *Error in every error that a module, or a model of this package,
// returns because its model failed:
//
//	Kind         Kind          // what the caller can do about it
//	Status       int           // the HTTP status, or 0 if unknown
//	RetryAfter   time.Duration // the wait that the provider demands, or 0
//	MaybeCharged bool          // the provider may have done the work although its answer
//	                           // did not arrive, so a retry may cost a second time
//	Err          error         // the provider's error
//
//	func (e *Error) Error() string   // the kind and the message of Err
//	func (e *Error) Temporary() bool // whether the same request may succeed later
//	func (e *Error) Unwrap() error   // Err
//
// For langchaingo providers, Kind, Status and RetryAfter are parsed from the error message; Retry-After headers are
// lost.
type Error = lm.Error

// PanicError is the error for a panic in code that was passed to a model or to a module's run, such as a provider, a
// reward or an event observer:
//
//	In    string // what panicked, such as "Run of CodeAct"
//	Value any    // the panic value
//	Stack []byte // the goroutine's stack, which Error omits because its message may reach a prompt
//
//	func (e *PanicError) Error() string // what panicked, and the value
//	func (e *PanicError) Unwrap() error // Value, if it is an error
type PanicError = lm.PanicError

// Kind classifies an [Error] by what the caller can do about it. It is a string with the method
//
//	func (k Kind) String() string // "rate limited", "auth", …, "unknown"
type Kind = lm.Kind

// The kinds of errors. [Retry] repeats requests that fail with one of the first two.
const (
	KindRateLimited    = lm.KindRateLimited    // retry later, after RetryAfter
	KindTransient      = lm.KindTransient      // a temporary failure of the provider or the network
	KindContextTooLong = lm.KindContextTooLong // the request does not fit into the model's context
	KindRefused        = lm.KindRefused        // the model or its provider refuses to answer
	KindAuth           = lm.KindAuth           // the key is missing, wrong, not permitted or out of credit
	KindInvalid        = lm.KindInvalid        // the request is invalid
	KindCancelled      = lm.KindCancelled      // the context is done; Err is the context's error
	KindOverBudget     = lm.KindOverBudget     // a budget is spent; Err is a *budget.Error
	KindUnknown        = lm.KindUnknown        // any other error
)
