package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/lists"
	"github.com/writ-go/writ/tools"
)

// Entry is the record of one call. The values that it points to must not be modified. Its JSON has Err's message as
// "error".
type Entry struct {
	ID      string          `json:"id"`             // E1, E2, …
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

// entry is an Entry and what the rules need to know about its call. It implements [dispatch.Entry].
type entry struct {
	Entry
	attempt    *Attempt // the attempt that made the call
	binding    *tools.Binding
	call       tools.Call
	all        []*tools.Binding // the tools that the program may call
	id         toolID
	server     string
	key        string   // the call's key as requested
	performed  string   // the call's key as performed
	fresh      bool     // the program passed {fresh: true}
	issued     int      // the journal's clock when the call was issued
	ended      int      // the journal's clock when the call ended, or 0 if it has not ended
	called     bool     // the tool was called
	consumedBy int      // the number of the last attempt that made the call or used its result
	reconciled bool     // Options.Reconcile was called
	pending    bool     // the tool is still working on the call
	repeatedBy []*entry // calls that repeat this one on purpose
	namedBy    []*entry // calls that name this one

	told   *Attempt     // the last attempt that was held because this call failed; in ReAct, the attempt continues
	unseen bool         // a repetition was held because nothing that was read can show the effect of this call
	list   *lists.State // what Result says about its list; set by listState
}

// is reports whether the call has the key, as requested or as performed.
func (e *entry) is(key string) bool { return e.key == key || e.performed == key }

// ordered reports whether the order of the call matters.
func (e *entry) ordered() bool { return e.Class != tools.Read && !e.binding.Hints.Repeatable }

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
	return effect.ID{Run: e.attempt.journal.run, Step: e.Step, Attempt: e.Attempt, Entry: e.ID}
}

// Recorded implements [dispatch.Entry]. The call of a new entry is not done before it is dispatched.
func (e *entry) Recorded() (json.RawMessage, error, bool) {
	j := e.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if !e.isDone() {
		return nil, nil, false
	}
	return e.Result, e.Err, true
}

// Dispatched implements [dispatch.Entry]. The error says that the program has ended, or that a policy has changed the
// call into one that is held or whose outcome is unknown.
func (e *entry) Dispatched(args json.RawMessage) error {
	j := e.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.State != dispatch.StateIntended && e.State != dispatch.StateDispatched { // dispatched if a policy tries again
		return errOver
	}
	if !bytes.Equal(args, e.Args) {
		if err := e.changed(args); err != nil {
			return err
		}
	}
	e.pending = true
	if e.fresh {
		j.fresh[e.id] = true
	}
	e.State, e.called = dispatch.StateDispatched, true
	return nil
}

// changed records arguments that a policy has changed. The rules also apply to the changed call, with the original
// call's second argument.
func (e *entry) changed(args json.RawMessage) error {
	key, err := e.binding.Key(args)
	if err != nil {
		return err
	}
	j := e.attempt.journal
	if !e.is(key) {
		c := e.call
		c.Args = args
		q := e.attempt.query(c, e.all, key)
		if q.class != tools.Read && !e.binding.Hints.Repeatable {
			for _, rule := range []func() (verdict, error){q.unknown, q.changedIntoDone, q.failed, q.earlier} {
				v, err := rule()
				if err != nil {
					return err
				}
				if v.decided {
					break
				}
			}
		}
		j.byKey[key] = append(j.byKey[key], e)
	}
	if e.Requested == nil {
		e.Requested = e.Args
	}
	e.Args, e.performed = args, key
	return nil
}

// Settled implements [dispatch.Entry]. It also records a result that arrives after the attempt has ended.
func (e *entry) Settled(result json.RawMessage, err error, pending bool) (again string) {
	j := e.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	state := dispatch.StateOf(err)
	if e.pending = pending; e.State == StateOK && state != StateOK {
		return "" // an abandoned try has ended after a successful one
	}
	if err != nil && !e.called || state == StateFailed && e.binding.Hints.ErrorsAreFinal {
		state = StateRejected // the tool was not called, or says that it has done nothing
	}
	e.Result, e.Err = result, err
	e.settle(state)
	if state == StateOK && e.Class == tools.Read {
		e.attempt.compare(e)
	}
	if state == StateFailed && e.Class != tools.Read {
		again = e.ID
	}
	return again
}
