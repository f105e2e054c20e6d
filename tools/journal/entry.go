package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/tools"
)

// State is what is known of a recorded call: [Intended], [Dispatched], [OK],
// [Rejected], [Failed] or [Unknown].
type State string

// The states of an [Entry].
const (
	Intended   State = "intended"   // issued, not yet with the tool
	Dispatched State = "dispatched" // with the tool, no answer yet
	OK         State = "ok"         // done
	Rejected   State = "rejected"   // provably not done: a policy refused, the server could not be reached
	Failed     State = "failed"     // the tool reported an error; the effect may have happened
	Unknown    State = "unknown"    // no answer: a timeout, a cancellation, a lost connection
)

// Entry is one call in the record. What it refers to is not to be modified. As JSON
// it has the text of Err as "error".
type Entry struct {
	ID      string          `json:"id"`             // E1, E2, … as the model reads it
	Step    int             `json:"step"`           // from 1
	Attempt int             `json:"attempt"`        // that made the call; within the step, from 1
	Tool    string          `json:"tool"`           // as a program writes it: mail.send
	Class   tools.Class     `json:"class"`          // what a repetition of it means: see [tools.Binding.ReplayClass]
	Args    json.RawMessage `json:"args,omitempty"` // as it was performed

	// Requested is what the program passed, if a policy has changed the arguments.
	Requested json.RawMessage `json:"requested,omitempty"`

	// Repeatable says that the host declared the tool so.
	Repeatable bool `json:"repeatable,omitempty"`

	// Repeats are the entries that the call does once more, on purpose.
	Repeats []string `json:"repeats,omitempty"`

	State  State           `json:"state"`
	Result json.RawMessage `json:"result,omitempty"`
	Err    error           `json:"-"` // of calls that did not end well, or whose result is of no use
}

// String is the entry on one line, long texts in part:
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

type entry struct {
	Entry
	attempt    *Attempt // that made the call
	binding    *tools.Binding
	call       tools.Call
	id         toolID
	server     string
	key        string   // of the call as the program requested it
	performed  string   // of the call as it was performed
	fresh      bool     // the program says that its tool only reads
	issued     int      // by the journal's clock
	ended      int      // 0: not yet
	called     bool     // the tool was
	takenBy    int      // the number of the last attempt that made the call or took its record
	reconciled bool     // Options.Reconcile was asked
	pending    bool     // the tool is still at work
	repeatedBy []*entry // calls that do it once more, on purpose
	namedBy    []*entry // calls that name it
}

// is reports whether this is a call with the key, as requested or as performed.
func (e *entry) is(key string) bool { return e.key == key || e.performed == key }

// ordered reports whether the order of the call matters.
func (e *entry) ordered() bool { return e.Class != tools.Read && !e.binding.Hints.Repeatable }

// done reports whether it is an effect that took place. What a policy answered by
// itself did not.
func (e *entry) done() bool { return e.ordered() && e.called && e.State == OK }

// uncertain reports whether it may have taken effect.
func (e *entry) uncertain() bool { return e.State == Failed || e.State == Unknown }

// counts reports whether something may have been done for it.
func (e *entry) counts() bool { return e.State != Rejected }

// before reports whether e had ended when the program made the other call. When the
// tool was called says nothing: calls made at the same time wait for each other by
// chance.
func (e *entry) before(other *entry) bool { return e.ended > 0 && e.ended < other.issued }

func (e *entry) settle(s State) {
	e.State, e.ended = s, e.attempt.journal.tick()
}

// ticket is an entry as the attempt that issued it sees it.
type ticket struct {
	*entry
	live bool
}

// Recorded implements [tools.Entry].
func (t ticket) Recorded() (json.RawMessage, error, bool) {
	if t.live {
		return nil, nil, false
	}
	return t.Result, t.Err, true
}

// Dispatched implements [tools.Entry]. The error is that the program has ended.
func (t ticket) Dispatched(args json.RawMessage) error {
	j := t.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if t.State != Intended && t.State != Dispatched { // the latter if a policy tries again
		return errOver
	}
	if !bytes.Equal(args, t.Args) {
		if err := t.changed(args); err != nil {
			return err
		}
	}
	t.pending = true
	if t.fresh {
		j.fresh[t.id] = true
	}
	t.State, t.called = Dispatched, true
	return nil
}

// changed notes the arguments with which the call is performed, unless it would then be
// a call that was made before. What the program says of the call counts for both.
func (t ticket) changed(args json.RawMessage) error {
	key, err := t.binding.Key(args)
	if err != nil {
		return err
	}
	j := t.attempt.journal
	if !t.is(key) {
		c := t.call
		c.Args = args
		q := t.attempt.query(c, key)
		if q.class != tools.Read && !t.binding.Hints.Repeatable {
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
		j.byKey[key] = append(j.byKey[key], t.entry)
	}
	if t.Requested == nil {
		t.Requested = t.Args
	}
	t.Args, t.performed = args, key
	return nil
}

// Settled implements [tools.Entry]. A late answer still counts: it is what
// happened.
func (t ticket) Settled(result json.RawMessage, err error, pending bool) {
	j := t.attempt.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	state := stateOf(err)
	if t.pending = pending; t.State == OK && state != OK {
		return // a try that was given up ends after one that went well
	}
	if err != nil && !t.called || state == Failed && t.binding.Hints.ErrorsAreFinal {
		state = Rejected // whatever the error says, the tool was not called, or has done nothing
	}
	t.Result, t.Err = result, err
	t.settle(state)
	if state == OK && t.Class == tools.Read {
		t.attempt.compare(t.entry)
	}
}

// stateOf says what the way a call ended tells of its effect.
func stateOf(err error) State {
	switch tools.StateOf(err) {
	case tools.StateRejected:
		return Rejected
	case tools.StateFailed:
		return Failed
	case tools.StateOK:
		return OK // also if there is only a complaint to answer the repeat with
	default:
		return Unknown
	}
}
