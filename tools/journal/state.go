package journal

import "github.com/writ-go/writ/internal/dispatch"

// State says what is known about a call's effect. While a program runs, the state of its calls is also "intended" or
// "dispatched".
type State = dispatch.State

// The states of a call that has ended.
const (
	StateRejected = dispatch.StateRejected // nothing was done: a policy refused, or the server could not be reached
	StateFailed   = dispatch.StateFailed   // the tool reported an error; the effect may have happened
	StateUnknown  = dispatch.StateUnknown  // no answer: a timeout, a cancellation, a lost connection
	StateOK       = dispatch.StateOK       // done, even if the result cannot be used
)
