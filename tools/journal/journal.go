package journal

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/writ-go/writ/tools"
)

// State is what is known of a recorded call.
type State string

// The states of an [Entry].
const (
	Intended   State = "intended"   // issued, not yet with the tool
	Dispatched State = "dispatched" // with the tool, no answer yet
	OK         State = "ok"         // done
	Rejected   State = "rejected"   // provably not done: a policy refused, the server could not be reached
	Failed     State = "failed"     // the tool answered with an error
	Unknown    State = "unknown"    // no answer: a timeout, a cancellation, a lost connection
)

// Entry is one call in the record.
type Entry struct {
	ID      string // E1, E2, … as the model reads it
	Step    int    // from 1
	Attempt int    // within the step, from 1
	Tool    string // as a program writes it: mail.send
	Class   tools.Class
	Args    json.RawMessage
	State   State
	Result  json.RawMessage
	Err     error // of calls that did not end well
}

// Journal is the record of one run, kept in memory. The zero value is not
// usable; see [New]. It is safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	entries []*entry
	logs    [][]*entry // of the open step's attempts: what each issued, in order
	step    int
	clock   int // counts dispatches and settlements, to tell "after" from "beside"
}

type entry struct {
	Entry
	journal    *Journal
	key        string
	server     string
	effect     bool // repeating it matters
	dispatched int  // the journal's clock; 0: not yet
	settled    int
	consumedBy int // the last attempt that took this record, or made the call
}

// New returns an empty journal whose first step is open.
func New() *Journal { return &Journal{step: 1} }

// Attempt starts an attempt at the open step: one program. Calls of an earlier
// attempt that have not been settled by now count as unknown.
func (j *Journal) Attempt() *Attempt {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		e.giveUp()
	}
	j.logs = append(j.logs, nil)
	return &Attempt{journal: j, number: len(j.logs)}
}

// Accept closes the step: its program has finished and what it gave was
// accepted. Its effects that the last attempt did not take up are orphans:
// done on behalf of a program that was then rewritten without them.
func (j *Journal) Accept() (orphans []Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := len(j.logs)
	for _, e := range j.entries {
		if e.Step == j.step && e.effect && e.State == OK && e.consumedBy != last {
			orphans = append(orphans, e.Entry)
		}
	}
	j.step, j.logs = j.step+1, nil
	return orphans
}

// Open returns the effects of the open step, all its attempts together, in
// order of issue: what a rewritten program has to reckon with.
func (j *Journal) Open() []Entry {
	return j.list(func(e *entry) bool { return e.Step == j.step })
}

// Entries returns every recorded call, in order of issue.
func (j *Journal) Entries() []Entry {
	return j.list(func(*entry) bool { return true })
}

func (j *Journal) list(keep func(*entry) bool) []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []Entry
	for _, e := range j.entries {
		if keep(e) {
			list = append(list, e.Entry)
		}
	}
	return list
}

// Attempt is the [tools.Ledger] of one program.
type Attempt struct {
	journal *Journal
	number  int
}

var _ tools.Ledger = (*Attempt)(nil)

// Issue implements [tools.Ledger].
func (a *Attempt) Issue(c tools.Call) (tools.Entry, error) {
	key, err := keyOf(c)
	if err != nil {
		return nil, tools.Fatal(err)
	}
	j := a.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	e, err := a.match(c, key)
	if err != nil {
		return nil, err
	}
	live := e == nil
	if live {
		e = j.add(c, key, a.number)
	}
	e.consumedBy = a.number
	j.logs[a.number-1] = append(j.logs[a.number-1], e)
	return ticket{e, live}, nil
}

func (j *Journal) add(c tools.Call, key string, attempt int) *entry {
	e := &entry{
		Entry: Entry{
			ID: fmt.Sprintf("E%d", len(j.entries)+1), Step: j.step, Attempt: attempt,
			Tool: c.Tool.Path(), Class: c.Tool.Hints.Class, Args: c.Args, State: Intended,
		},
		journal: j, key: key, server: c.Tool.Namespace,
		effect: c.Tool.Hints.Class == tools.Effect && !c.Tool.Hints.Repeatable,
	}
	j.entries = append(j.entries, e)
	return e
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

// Dispatched implements [tools.Entry].
func (t ticket) Dispatched() error {
	t.journal.mu.Lock()
	defer t.journal.mu.Unlock()
	if t.State != Intended {
		return fmt.Errorf("journal: %s: the program that made this call has ended", t.ID)
	}
	t.State = Dispatched
	t.journal.clock++
	t.entry.dispatched = t.journal.clock
	return nil
}

// Settled implements [tools.Entry]. A late answer still counts: it is what
// happened.
func (t ticket) Settled(result json.RawMessage, err error) {
	t.journal.mu.Lock()
	defer t.journal.mu.Unlock()
	t.State, t.Result, t.Err = stateOf(err), result, err
	t.journal.clock++
	t.settled = t.journal.clock
}

func (e *entry) giveUp() {
	switch e.State {
	case Intended:
		e.State = Rejected
	case Dispatched:
		e.State = Unknown
	}
}
