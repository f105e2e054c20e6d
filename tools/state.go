package tools

import "errors"

// State is what the way a call ended tells of its effect. The greater, the
// more there is to reckon with.
type State int

// The states of a call that has ended.
const (
	StateRejected State = iota // nothing was done
	StateFailed                // the tool answered with an error, and may have done a part
	StateUnknown               // there was no answer
	StateOK                    // the tool did it, even if its result is of no use
)

// StateOf returns what the error of a call tells of its effect; nil says that
// it was done. An error that is [Fatal] or no [ToolError] tells nothing, which
// is StateUnknown.
func StateOf(err error) State {
	if err == nil {
		return StateOK
	}
	te, ok := errors.AsType[*ToolError](err)
	if !ok || IsFatal(err) {
		return StateUnknown
	}
	did := te.outcome()
	if err != error(te) {
		did = max(did, StateFailed)
	}
	return did
}

func (e *ToolError) outcome() State {
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
