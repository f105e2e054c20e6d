package tools

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/internal/display"
)

// Kinds of [ToolError]. Each says what is known about the call's effect.
const (
	KindUnknownTool      = "unknown_tool"      // the tool does not exist; nothing was done
	KindInvalidArguments = "invalid_arguments" // the arguments violate the input schema; nothing was done
	KindDenied           = "denied"            // a policy refused the call; nothing was done
	KindLimit            = "limit"             // the program has reached its call limit; nothing was done
	KindBudget           = "budget"            // a budget is spent; nothing was done
	KindFailed           = "failed"            // the tool reported an error; the effect may have happened
	KindUnavailable      = "unavailable"       // the tool's server could not be reached; nothing was done
	KindTimeout          = "timeout"           // no answer in time; the effect is unknown
	KindCancelled        = "cancelled"         // canceled after dispatch; the effect is unknown
	KindUnknown          = "unknown"           // the connection was lost, or the run ended; the effect is unknown
	KindInvalidResult    = "invalid_result"    // the tool acted; its result violates the output schema or is withheld
	KindTooLarge         = "too_large"         // the tool acted; its result exceeds a limit
)

// ToolError is the error from a failed call. The program can catch it: its fields are properties of the thrown error.
//
// A [Handler] or [Policy] may return a ToolError to set Kind and Data. Any other error
// becomes a ToolError of one of these kinds:
//   - [KindTimeout] or [KindCancelled] for errors from package context, and for errors with a
//     Timeout method that returns true;
//   - [KindUnknown] for errors with a MayHaveActed method that returns true, and for errors from packages net and
//     net/http that report a lost connection;
//   - [KindFailed] for all others.
//
// If an error wraps a ToolError, the program gets the Data of the wrapped ToolError, and its
// Kind unless that kind means that nothing was done: the handler may have done more.
type ToolError struct {
	Tool    string          `json:"tool"`           // the tool's path; set by the dispatcher
	Kind    string          `json:"kind"`           // one of the kinds, or another word, which counts as KindFailed
	Message string          `json:"message"`        // for the model
	Data    json.RawMessage `json:"data,omitempty"` // dropped if it is not JSON

	// ID is the ID of the call's entry in the journal if the call failed and the program may repeat it with {again: ID}
	// as the second argument. It is "" if nothing was done or the outcome is unknown. The dispatcher sets it.
	ID string `json:"id,omitempty"`

	err error // for the host only
}

// Error returns the tool and the message.
func (e *ToolError) Error() string {
	if e.Tool == "" {
		return display.Text(e.Message) // not yet set by the dispatcher
	}
	return display.Text(fmt.Sprintf("tool %s: %s", e.Tool, e.Message))
}

// Unwrap returns the error's cause, such as an error marked by [HostOnly], or a panic's value and stack. The program
// does not see it, so the host should log it.
func (e *ToolError) Unwrap() error { return e.err }

// WithCause returns a copy of e whose Unwrap returns err. The program does not see err.
func (e *ToolError) WithCause(err error) *ToolError {
	c := *e
	c.err = err
	return &c
}

// HoldError reports a call that was not made because it resembles earlier ones. The model
// has to say whether it is the same call. The error ends the program, which cannot catch
// it. Package journal returns it.
type HoldError struct {
	Call    string   `json:"call"`              // the held call, as the model sees it
	Message string   `json:"message"`           // what the call resembles, and how to answer
	Entries []string `json:"entries,omitempty"` // the entries that the call resembles
}

// Error returns the text for the model.
func (e *HoldError) Error() string { return fmt.Sprintf("%s was held: %s", e.Call, e.Message) }

// Fatal marks an error that a rewritten program cannot fix. The program and the run end, and the module's Run returns
// err with the tool's name. Fatal(nil) returns nil.
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

// Unknown marks an error after which it is unknown whether the call had an effect, for
// example because the connection was lost before the answer arrived. Such a call is not
// repeated automatically unless its tool is idempotent or repeatable. Unknown(nil) returns
// nil.
func Unknown(err error) error {
	if err == nil {
		return nil
	}
	return &ToolError{Kind: KindUnknown, Message: err.Error() + "; whether it took effect is unknown", err: err}
}

// HostOnly marks an error whose text must not reach the model. The program sees only the error's kind. HostOnly(nil)
// returns nil.
func HostOnly(err error) error {
	if err == nil {
		return nil
	}
	return &hiddenError{err}
}

type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

type hiddenError struct{ err error }

func (e *hiddenError) Error() string { return e.err.Error() }
func (e *hiddenError) Unwrap() error { return e.err }

// HostOnly marks the error for the dispatcher.
func (e *hiddenError) HostOnly() {}
