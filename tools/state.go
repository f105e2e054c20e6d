package tools

import (
	"errors"
)

// State says what is known about the effect of a call.
type State string

// The states of a call.
const (
	StateIntended   State = "intended"   // issued, not yet dispatched to the tool
	StateDispatched State = "dispatched" // the tool was called and has not answered yet
	StateRejected   State = "rejected"   // nothing was done: a policy refused, or the server could not be reached
	StateFailed     State = "failed"     // the tool reported an error; the effect may have happened
	StateUnknown    State = "unknown"    // no answer: a timeout, a cancellation, a lost connection
	StateOK         State = "ok"         // done, even if the result cannot be used
)

// StateOf returns the state of a call that ended with err. An error that is [Fatal] or not
// a [ToolError] means StateUnknown.
func StateOf(err error) State {
	if err == nil {
		return StateOK
	}
	te, ok := errors.AsType[*ToolError](err)
	if !ok || IsFatal(err) {
		return StateUnknown
	}
	if err != error(te) && te.state() == StateRejected {
		return StateFailed // the code that wraps te may have done more
	}
	return te.state()
}

func (e *ToolError) state() State {
	switch e.Kind {
	case KindUnknownTool, KindInvalidArguments, KindDenied, KindLimit, KindUnavailable:
		return StateRejected
	case KindTimeout, KindCancelled, KindUnknown:
		return StateUnknown
	case KindInvalidResult, KindTooLarge:
		return StateOK
	default:
		return StateFailed
	}
}
