package tools

import (
	"encoding/json"
	"fmt"
)

// Attempt is the record of a run's calls; tools/journal has one.
type Attempt interface {
	// Issue is told of every valid call, in the order in which the program
	// makes them, before any policy. It must not block. An error ends the
	// program before the call is made, and the program cannot catch it: a
	// *[HoldError] is for the model to answer, any other for the host.
	Issue(c Call) (Entry, error)
}

// Entry is one call in a [Attempt]. Its methods are called concurrently with
// those of other entries.
type Entry interface {
	// Recorded returns the outcome that the record already holds for the call,
	// and whether it does; the call is then not made, and no other method is
	// called.
	Recorded() (result json.RawMessage, err error, ok bool)
	// Dispatched says that the tool is about to be called with these arguments,
	// which policies may have changed. If a policy retries, it is called for each
	// try. An error keeps the call from being made and ends the run.
	Dispatched(args json.RawMessage) error
	// Settled says how the call ended, all tries together; see [StateOf]. It is
	// called also if the tool was never called. If pending is true, a try is still
	// under way that nobody waits for; Settled is called again when it has ended.
	Settled(result json.RawMessage, err error, pending bool)
}

// HoldError says that a call resembles earlier ones, so that the program must say
// what it means before anything is done. A [Attempt] returns it from Issue. It ends
// the program, which cannot catch it.
type HoldError struct {
	Call    string   `json:"call"`              // the held call, as the model reads it
	Message string   `json:"message"`           // what it resembles, and how to answer
	Entries []string `json:"entries,omitempty"` // the entries that it resembles
}

// Error returns what the model reads.
func (e *HoldError) Error() string { return fmt.Sprintf("%s was held: %s", e.Call, e.Message) }
