package tools

import "errors"

// Outcome is what the way a call ended tells of its effect. The greater, the
// more there is to reckon with.
type Outcome int

// The outcomes of a call.
const (
	NotDone   Outcome = iota // nothing was done
	Failed                   // the tool answered with an error, and may have done a part
	MaybeDone                // there was no answer
	Done                     // the tool did it, even if its result is of no use
)

// OutcomeOf returns what the error of a call tells of its effect; nil says that
// it was done. An error that is [Fatal] or no [ToolError] tells nothing, which
// is MaybeDone.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}
	te, ok := errors.AsType[*ToolError](err)
	if !ok || IsFatal(err) {
		return MaybeDone
	}
	did := te.outcome()
	if err != error(te) {
		did = max(did, Failed)
	}
	return did
}

func (e *ToolError) outcome() Outcome {
	switch e.Kind {
	case KindUnknownTool, KindInvalidArguments, KindDenied, KindLimit, KindUnavailable:
		return NotDone
	case KindTimeout, KindCancelled, KindUnknown:
		return MaybeDone
	case KindInvalidResult, KindTooLarge:
		return Done
	default:
		return Failed
	}
}
