package dispatch

import (
	"encoding/json"

	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/tools"
)

// Attempt records the calls of one program in a journal. Package journal implements it.
type Attempt interface {
	// Issue is called for every valid call, in the order in which the program makes its calls, before the policies. All
	// are the tools that the program may call. Issue must not block. If it returns an error, the call is not made and
	// the program ends without being able to catch the error. The model sees a *[tools.HoldError]; any other error is
	// returned to the host.
	Issue(c tools.Call, all []*tools.Binding) (Entry, error)
}

// Recorder is an Attempt that records how its program runs, so that the program can be repeated. The sandbox repeats a
// program by giving it the recorded start, and the replies of its calls in the recorded order of turns.
type Recorder interface {
	Attempt

	// Records reports whether the program is recorded. If not, the other methods of Recorder are not called.
	Records() bool

	// Begin is called once, before the program runs. The source is the program and everything else that decides what it
	// does, such as its inputs; start has the seed and the time of a new run. If the attempt repeats a recorded one
	// with the same source, Begin returns the recorded start and all recorded turns, after which the program goes on by
	// itself. Otherwise, it records start and returns it.
	Begin(source, start []byte) (recorded []byte, turns [][]byte, err error)

	// Turns records the turns since the last call of Turns. It is called before Issue, and when the program has ended,
	// before the journal's End: without the last turns, the end of the program may not be the same when it is repeated.
	// While the program is repeated, Turns gets the recorded turns again.
	Turns(turns [][]byte)
}

// Replayed is an Entry whose result was recorded when the same program ran before. The call counts as made by the
// program.
type Replayed interface {
	Entry

	// Performed returns the arguments with which the tool was called, or nil if it was not called.
	Performed() json.RawMessage

	// Decision returns how the call was approved or refused, or "": see [Decided].
	Decision() string

	// Spent returns what the call has spent, or nil: see [Spending].
	Spent() json.RawMessage
}

// InterruptedError wraps an error with which a call ends, if the program does not get the error, because the program
// has ended or has got another reply.
type InterruptedError struct{ Err error }

// Error returns the wrapped error's text.
func (e *InterruptedError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *InterruptedError) Unwrap() error { return e.Err }

// Entry is the journal's entry of one call. Methods of different entries may be called concurrently.
type Entry interface {
	// Effect identifies the call.
	Effect() effect.ID

	// Recorded returns the result that the journal already has for the call. If ok is true, the call is not made and no
	// other method is called. If ok is false and err is not nil, the call was made before, and err says what is known
	// about it; it is made again.
	Recorded() (result json.RawMessage, err error, ok bool)
	// Dispatched is called before each call to the tool. The arguments are the ones that the policies passed on. If it
	// returns an error, the tool is not called and the run ends.
	Dispatched(args json.RawMessage) error
	// Settled is called when the call has ended, even if the tool was never called; see [StateOf]. If pending is true,
	// a policy has stopped waiting for a try (a call to the tool) that is still in progress. Settled is called again
	// when that try ends. The error is an *[InterruptedError] if the program does not get it. Settled returns the ID
	// with which the program may repeat the call, or "": see [tools.ToolError]. The decision is that of [Decided], and
	// spent is what the function of [Spending] returns.
	Settled(result json.RawMessage, err error, decision string, spent json.RawMessage, pending bool) (again string)
}
