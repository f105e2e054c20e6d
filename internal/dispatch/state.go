package dispatch

import (
	"errors"

	"github.com/writ-go/writ/tools"
)

// State says what is known about a call's effect. Package journal exports it.
type State string

// The states of a call.
const (
	StateIntended   State = "intended"   // issued, not yet dispatched to the tool
	StateDispatched State = "dispatched" // the tool was called and has not answered yet
	StateRejected   State = "rejected"   // nothing was done: a policy refused, or the server could not be reached
	StateFailed     State = "failed"     // the tool reported an error; the effect may have happened
	StateUnknown    State = "unknown"    // no answer: a timeout, a cancellation, a lost connection
	StateOK         State = "ok"         // done, although the result may be unusable
)

// StateOf returns the state of a call that ended with err. The state is StateUnknown if the error is [tools.Fatal] or
// not a [tools.ToolError].
func StateOf(err error) State {
	if err == nil {
		return StateOK
	}
	te, ok := errors.AsType[*tools.ToolError](err)
	if !ok || tools.IsFatal(err) {
		return StateUnknown
	}
	state := stateOfKind(te.Kind)
	if err != error(te) && state == StateRejected {
		return StateFailed // the code that wraps te may have done more
	}
	return state
}

func stateOfKind(kind string) State {
	switch kind {
	case tools.KindUnknownTool, tools.KindInvalidArguments, tools.KindDenied, tools.KindLimit, tools.KindUnavailable,
		tools.KindBudget:
		return StateRejected
	case tools.KindTimeout, tools.KindCancelled, tools.KindUnknown:
		return StateUnknown
	case tools.KindInvalidResult, tools.KindTooLarge:
		return StateOK
	default:
		return StateFailed
	}
}
