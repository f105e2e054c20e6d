package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/writ-go/writ/tools"
)

// hostOnlyError is an error marked by [tools.HostOnly].
type hostOnlyError interface {
	error
	HostOnly()
}

// partialError is implemented by errors from code that makes tool calls of its own, such as a module
// that a [tools.Handler] runs.
type partialError interface {
	error

	// MayHaveActed reports whether effects may have happened before the error.
	MayHaveActed() bool
}

// ToolError converts the error from a call to b into the error that the program gets. The error must not be
// [tools.Fatal]. See [tools.ToolError] and [tools.HostOnly]. The result's Unwrap method returns err or, if err is
// itself a ToolError, err's cause.
func ToolError(ctx context.Context, b *tools.Binding, err error) *tools.ToolError {
	te, isToolError := errors.AsType[*tools.ToolError](err)
	hidden, secret := errors.AsType[hostOnlyError](err)
	switch {
	case secret && !(isToolError && errors.Is(te, hidden)): // no ToolError wraps the HostOnly error
		kind := newToolError(ctx, err).Kind
		if err == error(hidden) {
			kind = ToolError(ctx, b, errors.Unwrap(hidden)).Kind
		}
		te = (&tools.ToolError{Kind: kind, Message: "the tool failed; the reason is not shown"}).WithCause(err)
	case !isToolError:
		te = newToolError(ctx, err)
	case err == error(te):
		te = te.WithCause(te.Unwrap())
	default:
		te = outerToolError(ctx, err, te, secret)
	}
	te.Tool, te.ID = b.Path(), ""
	if cause := te.Unwrap(); te.Kind == "" && cause != nil {
		te.Kind = newToolError(ctx, cause).Kind // the cause may be a deadline
	}
	te.Kind = cmp.Or(te.Kind, tools.KindFailed)
	if !json.Valid(te.Data) {
		te.Data = nil
	}
	if b.ReplayClass() == tools.Read {
		te.Message = strings.ReplaceAll(te.Message, effectUnknown, "") // a read has no effect
	}
	return te
}

// outerToolError returns a ToolError for an error that wraps the ToolError part. If part wraps a HostOnly error
// (secret), that error's text stays hidden.
func outerToolError(ctx context.Context, err error, part *tools.ToolError, secret bool) *tools.ToolError {
	te := newToolError(ctx, err)
	te.Data = part.Data
	if te.Kind == tools.KindFailed && StateOf(part) == StateFailed {
		te.Kind = part.Kind
	}
	if secret {
		te.Message = part.Message
	}
	return te
}

// effectUnknown ends the messages for calls whose effect is unknown.
const effectUnknown = "; whether it took effect is unknown"

// newToolError returns a ToolError for an error that is not a ToolError.
func newToolError(ctx context.Context, err error) *tools.ToolError {
	late, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	kind, message := acted(err), err.Error()
	_, recorded := errors.AsType[*RecordedError](err)
	switch {
	case recorded:
		kind = tools.KindFailed
	case kind == tools.KindInvalidResult, kind == tools.KindTooLarge:
	case kind != "":
		message = strings.ReplaceAll(message, effectUnknown, "") + effectUnknown
	case ok && late.Timeout():
		kind, message = tools.KindTimeout, "no answer in time"+effectUnknown
	case errors.Is(err, context.Canceled), ctx.Err() != nil:
		kind, message = tools.KindCancelled, "cancelled"+effectUnknown
	case lostConnection(err):
		kind, message = tools.KindUnknown, message+effectUnknown
	default:
		kind = tools.KindFailed
	}
	return (&tools.ToolError{Kind: kind, Message: message}).WithCause(err)
}

// acted returns the kind of the first error in err's tree that may have followed an effect, or "" if the tree has no
// such error.
func acted(err error) string {
	switch e := err.(type) {
	case *tools.ToolError:
		if s := stateOfKind(e.Kind); s == StateUnknown || s == StateOK {
			return e.Kind
		}
		if e.Kind != "" { // its kind accounts for its causes
			return ""
		}
	case partialError:
		if e.MayHaveActed() {
			return tools.KindUnknown
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
