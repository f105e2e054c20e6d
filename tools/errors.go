package tools

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Kinds of [ToolError].
const (
	KindUnknownTool      = "unknown_tool"      // no such tool in the set
	KindInvalidArguments = "invalid_arguments" // the arguments violate the input schema; nothing was done
	KindDenied           = "denied"            // a policy refused; nothing was done
	KindFailed           = "failed"            // the tool answered with an error
	KindUnavailable      = "unavailable"       // the tool's server could not be reached; nothing was done
	KindTimeout          = "timeout"           // no answer in time: what was done is unknown
	KindCancelled        = "cancelled"         // cancelled in flight: what was done is unknown
	KindUnknown          = "unknown"           // the connection was lost: what was done is unknown
	KindInvalidResult    = "invalid_result"    // done, but the result violates the output schema
)

// ToolError is how a failed call looks to the program: it is thrown with these
// fields as its own properties, and message without any prefix. A [Handler]
// may return one to set Kind and Data; any other error becomes a ToolError of
// kind [KindFailed].
type ToolError struct {
	Tool    string          `json:"tool"`
	Kind    string          `json:"kind"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

	err error // what the host sees and the guest does not
}

func (e *ToolError) Error() string { return fmt.Sprintf("tool %s: %s", e.Tool, e.Message) }

// Unwrap returns the error behind the call's failure, which may say more than
// the program was told.
func (e *ToolError) Unwrap() error { return e.err }

// Fatal marks an error that no rewritten program can mend. The program ends,
// the module asks the model nothing more, and its Run returns err.
func Fatal(err error) error {
	if err == nil {
		return nil
	}
	return &fatalError{err}
}

// Hidden marks an error whose text must not reach the model. The program sees
// that the tool failed and nothing else; the host sees err.
func Hidden(err error) error {
	if err == nil {
		return nil
	}
	return &hiddenError{err}
}

// IsFatal reports whether err was marked by [Fatal].
func IsFatal(err error) bool {
	var f *fatalError
	return errors.As(err, &f)
}

type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

type hiddenError struct{ err error }

func (e *hiddenError) Error() string { return e.err.Error() }
func (e *hiddenError) Unwrap() error { return e.err }

// WithCause returns a copy of e with err behind it, for the host's eyes only:
// it is what Unwrap returns, and no part of it reaches the program.
func (e *ToolError) WithCause(err error) *ToolError {
	c := *e
	c.err = err
	return &c
}
