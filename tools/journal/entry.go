package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/lists"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
)

// Entry is the record of one call. The values that it points to must not be modified. Its JSON has Err's message as
// "error".
type Entry struct {
	ID      string          `json:"id"`             // E1, E2, …
	Turn    int             `json:"turn,omitempty"` // see [Journal.Turn] and [Journal.Continue]
	Step    int             `json:"step"`           // from 1
	Attempt int             `json:"attempt"`        // the attempt's number in the step, from 1
	Tool    string          `json:"tool"`           // the tool's path: mail.send
	Class   tools.Class     `json:"class"`          // see [tools.Binding.ReplayClass]
	Args    json.RawMessage `json:"args,omitempty"` // as performed

	// Requested are the arguments that the program passed, if a policy changed them.
	Requested json.RawMessage `json:"requested,omitempty"`

	// Repeatable is tools.Hints.Repeatable of the tool.
	Repeatable bool `json:"repeatable,omitempty"`

	// Repeats are the entries that the call repeats on purpose.
	Repeats []string `json:"repeats,omitempty"`

	// Reverts is the entry that the call undoes: see [Journal.Rollback].
	Reverts string `json:"reverts,omitempty"`

	// Labels are reserved for labels of the call's data.
	Labels uint64 `json:"labels,omitempty"`

	State  State           `json:"state"`
	Result json.RawMessage `json:"result,omitempty"`
	Err    error           `json:"-"` // the error, if the call failed or its result cannot be used
}

// String returns the entry on one line, with long strings cut:
//
//	E1 mail.send({"to":"ann"}) ok → "mail 1"
func (e Entry) String() string {
	text := fmt.Sprintf("%s %s %s", e.ID, describe(e.Tool, e.Args), e.State)
	switch {
	case e.Err != nil:
		return text + ": " + cut(e.Err.Error(), 200)
	case len(e.Result) > 0:
		return text + " → " + cut(string(e.Result), 200)
	}
	return text
}

// MarshalJSON writes the entry with Err's message as "error".
func (e Entry) MarshalJSON() ([]byte, error) {
	type plain Entry
	var text string
	if e.Err != nil {
		text = fmt.Sprint(e.Err) // fmt recovers from a panic in the Error method
	}
	return json.Marshal(struct {
		plain
		Error string `json:"error,omitempty"`
	}{plain(e), text})
}

// UnmarshalJSON reads the JSON of MarshalJSON. Only Err's message is restored.
func (e *Entry) UnmarshalJSON(raw []byte) error {
	type plain Entry
	var read struct {
		plain
		Error string `json:"error"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	*e = Entry(read.plain)
	if read.Error != "" {
		e.Err = errors.New(read.Error)
	}
	return nil
}

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

// entry is an Entry and what the rules need to know about its call. It implements [dispatch.Entry].
type entry struct {
	Entry
	attempt    *Attempt         // the attempt that made the call
	call       tools.Call       // empty if the entry was read from a log and its program was not repeated
	all        []*tools.Binding // the tools that the program may call; as call
	id         toolID
	key        string   // the call's key as requested
	performed  string   // the call's key as performed
	fresh      bool     // the program passed {fresh: true}
	issued     int      // the journal's clock when the call was issued
	ended      int      // the journal's clock when the call ended, or 0 if it has not ended
	called     bool     // the tool was called
	consumedBy int      // the number of the last attempt that made the call or used its result
	past       bool     // done in an earlier turn of the conversation
	reconciled bool     // Options.Reconcile was called
	pending    bool     // the tool is still working on the call
	finished   bool     // the tool will not answer any more
	again      bool     // the tool was called by an earlier process, which got no answer, and is called again
	unheard    bool     // the program got an error, and the result was found out later
	answered   bool     // Options.OnRepeat has answered for the call
	paused     bool     // the call waits for a person, and the run has ended meanwhile
	repeatedBy []*entry // calls that repeat this one on purpose
	namedBy    []*entry // calls that name this one

	destructive bool       // tools.Hints.Destructive of the tool
	answer      *operation // the settle whose reply the program got, or nil

	step      int            // the step to which the rules count the call: see [Journal.Continue]
	carried   bool           // an earlier run of the module made the call, and it is not consumed
	origin    *entry         // the first of the calls that this one repeats because they had no result, or itself
	continued bool           // another call has this one's origin
	within    *effect.Within // the journals of the runs that the tool makes; only of the origin

	told   *Attempt     // the last attempt that was held because this call failed; in ReAct, the attempt continues
	unseen bool         // a repetition was held because nothing that was read can show the effect of this call
	list   *lists.State // what Result says about its list; set by listState
}

// is reports whether the call has the key, as requested or as performed.
func (e *entry) is(key string) bool { return e.key == key || e.performed == key }

// ordered reports whether the order of the call matters.
func (e *entry) ordered() bool { return e.Class != tools.Read && !e.Repeatable }

// done reports whether the call had an effect. A call that a policy answered had no effect.
func (e *entry) done() bool { return e.ordered() && e.called && e.State == StateOK }

// uncertain reports whether the call may have had an effect.
func (e *entry) uncertain() bool {
	return e.State == StateFailed || e.State == StateUnknown
}

// counts reports whether the call was not rejected.
func (e *entry) counts() bool { return e.State != StateRejected }

// before reports whether e had ended when the program issued the other call. The order in which the two calls were
// dispatched does not matter, because it is random for concurrent calls.
func (e *entry) before(other *entry) bool { return e.ended > 0 && e.ended < other.issued }

func (e *entry) settle(s State) {
	e.State, e.ended = s, e.attempt.journal.tick()
}

// Effect implements [dispatch.Entry].
func (e *entry) Effect() effect.ID {
	j := e.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	id := effect.ID{Run: j.run, Step: e.Step, Attempt: e.Attempt, Entry: e.ID}
	if m := e.call.Tool; m != nil && m.Module != nil {
		if e.origin.within == nil {
			e.origin.within = effect.NewWithin()
		}
		id.Within, id.Origin = e.origin.within, e.origin.ID
	}
	sent := func(o *entry) bool { return o.State == StateUnknown && o.issued < e.issued }
	if i := slices.IndexFunc(j.byKey[e.key], sent); i >= 0 && e.Class == tools.Idempotent && e.Repeats == nil {
		id.First = j.byKey[e.key][i].ID
	}
	return id
}

// Recorded implements [dispatch.Entry]. The call of a new entry is not done before it is dispatched.
func (e *entry) Recorded() (json.RawMessage, error, bool) {
	j := e.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case e.isDone():
		return e.Result, e.Err, true
	case e.again:
		return nil, errUnanswered, false
	}
	return nil, nil, false
}

// Dispatched implements [dispatch.Entry]. The error says that the program has ended, that a policy has changed the call
// into one that is held or whose outcome is unknown, or that the log cannot be written.
func (e *entry) Dispatched(args json.RawMessage) error {
	if err := e.dispatched(args); err != nil || e.Class == tools.Read {
		return err
	}
	return e.attempt.journal.sync()
}

func (e *entry) dispatched(args json.RawMessage) error {
	j := e.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if !e.mayDispatch() {
		return errOver
	}
	op := j.newOperation(operation{Op: opDispatch, ID: e.ID})
	if j.log != nil {
		args = compact(args)
	}
	if !bytes.Equal(args, e.Args) {
		if err := e.changed(op, args); err != nil {
			return err
		}
	}
	return j.commit(op)
}

// mayDispatch reports whether the program still waits for the call. A policy may try several times. If the process
// ended before the program got a reply, the call may be made again when the program is repeated.
func (e *entry) mayDispatch() bool {
	j := e.attempt.journal
	tip := j.tip(e)
	waits := tip.State == dispatch.StateIntended || tip.State == dispatch.StateDispatched
	return waits || tip.answer == nil && e.attempt == j.current && !e.attempt.over
}

// changed adds arguments that a policy has changed to the operation. The rules also apply to the changed call, with the
// original call's second argument.
func (e *entry) changed(op *operation, args json.RawMessage) error {
	key, err := e.call.Tool.Key(args)
	if err != nil {
		return err
	}
	op.Args, op.Key = args, []byte(key)
	if e.is(key) {
		return nil
	}
	if j := e.attempt.journal; !slices.ContainsFunc(j.pending, (*operation).active) {
		j.play(len(j.pending)) // the call is new, so the rules know everything
	}
	c := e.call
	c.Args = args
	q := e.attempt.query(c, e.all, key)
	q.answered = e.answered
	if q.class == tools.Read || e.Repeatable {
		return nil
	}
	for _, rule := range []func() (verdict, error){q.unknown, q.changedIntoDone, q.failed, q.earlier} {
		v, err := rule()
		if hold, ok := err.(*tools.HoldError); ok && (q.told || q.unseen) {
			op.Hold, op.Told, op.Unseen, op.Server, op.Name = hold, q.told, q.unseen, q.id.server, q.id.name
			op.Args, op.Key = nil, nil
			_ = e.attempt.journal.commit(op) // the program ends in any case
		}
		if err != nil || v.decided {
			return err
		}
	}
	return nil
}

// Settled implements [dispatch.Entry]. It also records a result that arrives after the attempt has ended. It records
// nothing if the run is paused, so that the call is made when the run is resumed.
func (e *entry) Settled(result json.RawMessage, err error, decision string, pending bool) (again string) {
	j := e.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	_, unknown := errors.AsType[*UnknownError](err) // of a run that the tool started: it goes on when this one does
	if errors.Is(err, place.ErrPaused) || unknown && j.log != nil {
		e.paused = true
		return ""
	}
	interrupted, unheard := err.(*dispatch.InterruptedError)
	if unheard {
		err = interrupted.Err
	}
	tip, state := j.tip(e), dispatch.StateOf(err)
	if err != nil && !tip.called || state == StateFailed && e.call.Tool.Hints.ErrorsAreFinal {
		state = StateRejected // the tool was not called, or says that it has done nothing
	}
	op := j.newOperation(operation{
		Op: opSettle, ID: e.ID, State: state, Result: result, Decision: decision, Pending: pending,
	})
	op.Unheard = (unheard || tools.IsFatal(err)) && (state == StateRejected || state == StateUnknown)
	if j.log != nil {
		op.Result, err = compact(result), recordable(err)
	}
	op.setError(err)
	if tip.State != StateOK && state == StateFailed && e.Class != tools.Read {
		again = e.ID
	}
	if j.commit(op) == nil { // else Sync and the next call return the error
		e.tell(state)
	}
	return again
}

// tell says that the log has the call's outcome.
func (e *entry) tell(s State) {
	if told := e.attempt.journal.options.OnSettled; told != nil {
		told(e.ID, s)
	}
}

// recordable returns a copy of an error with the message and data that its record has.
func recordable(err error) error {
	te, ok := err.(*tools.ToolError)
	if !ok {
		return err
	}
	te = te.WithCause(te.Unwrap())
	te.Message, te.Data = strings.ToValidUTF8(te.Message, "\ufffd"), compact(te.Data)
	return te
}
