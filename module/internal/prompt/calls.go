package prompt

import (
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Call returns the observation of a call that the model made directly, not in a program.
func Call(call sandbox.Call, b *tools.Binding) string {
	switch {
	case call.Error != nil:
		return failedCall(call, b)
	case call.Result == nil:
		return call.Tool + " returned nothing."
	}
	return show(call.Result, call.Tool+" returned", "", MaxText)
}

func failedCall(call sandbox.Call, b *tools.Binding) string {
	te := call.Error
	state, class := dispatch.StateOf(te), b.ReplayClass()
	verb := "failed"
	switch state {
	case dispatch.StateRejected:
		verb = "was not called"
	case dispatch.StateOK:
		verb = "was called, but its result cannot be used"
	}
	text := fmt.Sprintf("%s %s: %s", call.Tool, verb, Indented(te.Message))
	if te.Data != nil {
		text += "\n" + show(te.Data, "The error's data", " is", MaxText/4)
	}
	if class == tools.Read || class == tools.Idempotent || b.Hints.Repeatable {
		return text
	}
	switch state {
	case dispatch.StateOK:
		text += "\nIt is done: do not repeat the call."
	case dispatch.StateFailed:
		text += "\nIt may have taken effect: check before you repeat the call."
	case dispatch.StateUnknown:
		text += unknownNote
	}
	return text
}

// HeldCall is the message for a call that was held because it repeats an earlier one.
const HeldCall = "this exact call was made before without a usable result, so it may have taken effect; " +
	"check whether it did, if a tool can show that. To make it again anyway, repeat the call"

// RejectedCall returns the result of a call to submit with an invalid answer.
func RejectedCall(spec *signature.Spec, answer json.RawMessage, err error) string {
	happened, form := rejectedAnswer(spec, answer, err)
	return Cut(happened, max(maxObservation-len(form), 0)) + form
}
