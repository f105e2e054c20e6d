package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kinds of [ToolError]. Each says what is known of the call's effect; see
// [StateOf].
const (
	KindUnknownTool      = "unknown_tool"      // no such tool in the set; nothing was done
	KindInvalidArguments = "invalid_arguments" // the arguments violate the input schema; nothing was done
	KindDenied           = "denied"            // a policy refused; nothing was done
	KindLimit            = "limit"             // the program has made all the calls that it may; nothing was done
	KindFailed           = "failed"            // the tool answered with an error
	KindUnavailable      = "unavailable"       // the tool's server could not be reached; nothing was done
	KindTimeout          = "timeout"           // no answer in time: what was done is unknown
	KindCancelled        = "cancelled"         // cancelled in flight: what was done is unknown
	// the connection was lost, or the error ends the run: what was done is unknown
	KindUnknown       = "unknown"
	KindInvalidResult = "invalid_result" // done, but the result violates the output schema or is withheld
	KindTooLarge      = "too_large"      // done, but the result exceeds a limit
)

// ToolError is how a failed call looks to the program: it is thrown with these
// fields as its own properties, and message without any prefix. A [Handler] or
// [Policy] may return one to set Kind and Data; any other error becomes a
// ToolError of kind [KindFailed], or [KindTimeout] or [KindCancelled] if it is
// one of those of package context or says that it is a timeout, or [KindUnknown]
// if it is an [PartialError], or tells of a connection that was lost, as those of packages
// net and net/http do. If your error wraps a ToolError, its Data is used, and its
// Kind only if that does not claim that nothing was done, since your handler may
// have done more.
type ToolError struct {
	Tool string `json:"tool"` // as a program writes it; filled in by the dispatcher
	// one of the kinds, or a word of the tool's own, which counts as KindFailed
	Kind    string          `json:"kind"`
	Message string          `json:"message"`        // for the model
	Data    json.RawMessage `json:"data,omitempty"` // what else the tool said; dropped if it is not JSON

	err error // what the host sees and the guest does not
}

// Error returns the tool and the message.
func (e *ToolError) Error() string {
	if e.Tool == "" {
		return e.Message // made by a handler or policy; the chain names the tool
	}
	return fmt.Sprintf("tool %s: %s", e.Tool, e.Message)
}

// Unwrap returns the error behind the call's failure, which may say more than
// the program was told.
func (e *ToolError) Unwrap() error { return e.err }

// WithCause returns a copy of e with err behind it, for the host's eyes only:
// it is what Unwrap returns, and no part of it reaches the program.
func (e *ToolError) WithCause(err error) *ToolError {
	c := *e
	c.err = err
	return &c
}

// Fatal marks an error that no rewritten program can mend. The program ends,
// the module asks the model nothing more, and its Run returns err, behind the
// name of the tool. Nil stays nil.
func Fatal(err error) error {
	if err == nil {
		return nil
	}
	return &fatalError{err}
}

// IsFatal reports whether err was marked by [Fatal].
func IsFatal(err error) bool {
	_, fatal := errors.AsType[*fatalError](err)
	return fatal
}

// Unknown marks an error from which it is not known whether anything was done, as
// where the connection broke before the answer, or the answer cannot be read. The
// call is not made again without somebody to decide, unless its tool is idempotent
// or repeatable. Nil stays nil.
func Unknown(err error) error {
	if err == nil {
		return nil
	}
	return &ToolError{Kind: KindUnknown, Message: err.Error() + unsure, err: err}
}

// HostOnly marks an error whose text must not reach the model. The program sees
// that the tool failed, and of which kind the failure is, and nothing else; the
// host sees err. Nil stays nil.
func HostOnly(err error) error {
	if err == nil {
		return nil
	}
	return &hiddenError{err}
}

// RetryAfter is implemented by errors that know when another try may help. It is
// looked for behind what a [Handler] returns, with errors.As, so that it may be
// the cause of a [ToolError]; policy.Retry does not try again before.
type RetryAfter interface {
	error

	// RetryAfter returns how long to wait, from now on. Zero and less mean that
	// there is no need to.
	RetryAfter() time.Duration
}

// PartialError is implemented by errors of what makes calls itself, such as a module
// that a [Handler] runs. It is looked for behind what the Handler returns, unless
// that is a [ToolError], which speaks for itself. A Handler within whose context
// effects were made by calls of a [Set] needs none: its errors count as Acted.
type PartialError interface {
	error

	// MayHaveActed reports whether effects were made, or may have been.
	MayHaveActed() bool
}

type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

type hiddenError struct{ err error }

func (e *hiddenError) Error() string { return e.err.Error() }
func (e *hiddenError) Unwrap() error { return e.err }

// AsToolError returns what the program is told of an error of a call of b that
// is not [Fatal]; see [ToolError] and [HostOnly]. Its Unwrap has the error itself.
func AsToolError(ctx context.Context, b *Binding, err error) *ToolError {
	return asToolError(ctx, b, err)
}

// asToolError words an error for the program.
func asToolError(ctx context.Context, b *Binding, err error) *ToolError {
	te, worded := errors.AsType[*ToolError](err)
	hidden, secret := errors.AsType[*hiddenError](err)
	switch {
	case secret && !(worded && errors.Is(te, hidden)): // marked outside of any wording
		kind := wording(ctx, err).Kind
		if err == error(hidden) {
			kind = asToolError(ctx, b, hidden.err).Kind
		}
		te = &ToolError{Kind: kind, Message: "the tool failed; the reason is not shown", err: err}
	case !worded:
		te = wording(ctx, err)
	case err == error(te):
		te = te.WithCause(te.err)
	default:
		te = wrapping(ctx, err, te, secret)
	}
	te.Tool = b.Path()
	if te.Kind == "" && te.err != nil {
		te.Kind = wording(ctx, te.err).Kind // a deadline behind it is a deadline
	}
	te.Kind = cmp.Or(te.Kind, KindFailed)
	if !json.Valid(te.Data) {
		te.Data = nil
	}
	if b.ReplayClass() == Read {
		te.Message = strings.ReplaceAll(te.Message, unsure, "") // it takes none
	}
	return te
}

// wrapping makes a ToolError of an error around one, which is about a part of the
// call. What is hidden behind that stays so.
func wrapping(ctx context.Context, err error, part *ToolError, secret bool) *ToolError {
	te := wording(ctx, err)
	te.Data = part.Data
	if te.Kind == KindFailed && StateOf(part) == StateFailed {
		te.Kind = part.Kind
	}
	if secret {
		te.Message = part.Message
	}
	return te
}

// unsure ends the messages of calls of which nobody knows what they did.
const unsure = "; whether it took effect is unknown"

// wording makes a ToolError of an error that is none.
func wording(ctx context.Context, err error) *ToolError {
	late, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	did := acted(err)
	switch {
	case did == KindInvalidResult, did == KindTooLarge:
		return &ToolError{Kind: did, Message: err.Error(), err: err}
	case did != "":
		return &ToolError{Kind: did, Message: strings.ReplaceAll(err.Error(), unsure, "") + unsure, err: err}
	case ok && late.Timeout():
		return &ToolError{Kind: KindTimeout, Message: "no answer in time" + unsure, err: err}
	case errors.Is(err, context.Canceled), ctx.Err() != nil:
		return &ToolError{Kind: KindCancelled, Message: "cancelled" + unsure, err: err}
	case brokeOff(err):
		return &ToolError{Kind: KindUnknown, Message: err.Error() + unsure, err: err}
	default:
		return &ToolError{Kind: KindFailed, Message: err.Error(), err: err}
	}
}

// acted returns the kind of the first error behind err by which something was
// done, or may have been; "" if there is none.
func acted(err error) string {
	switch e := err.(type) {
	case *ToolError:
		if maxState(e.state(), StateFailed) != StateFailed {
			return e.Kind
		}
		if e.Kind != "" { // it speaks for what is behind it
			return ""
		}
	case PartialError:
		if e.MayHaveActed() {
			return KindUnknown
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return acted(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if kind := acted(err); kind != "" {
				return kind
			}
		}
	}
	return ""
}
