package journal

import (
	"errors"
	"fmt"
	"sync"

	"github.com/writ-go/writ/tools"
)

// Journal is the record of one run, kept in memory. It is made by [New], and
// safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	entries []*entry
	logs    [][]*entry // of the open step's attempts: what each issued, in order
	step    int
	clock   int // counts calls made and ended, to tell "after" from "beside"
}

// New returns an empty journal whose first step is open.
func New() *Journal { return &Journal{step: 1} }

// Attempt starts an attempt at the open step: one program. The one before ends:
// of its calls, those that are with the tool count as unknown until the answer
// comes, and the others are not made any more.
func (j *Journal) Attempt() *Attempt {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.giveUp()
	j.logs = append(j.logs, nil)
	return &Attempt{journal: j, step: j.step, number: len(j.logs)}
}

// Accept closes the step: its program has finished and what it gave was
// accepted. It returns the orphans: effects, other than repeatable ones, that
// the last attempt did not take up. They were done on behalf of a program that
// was then rewritten without them.
func (j *Journal) Accept() (orphans []Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.accept()
}

func (j *Journal) accept() (orphans []Entry) {
	j.giveUp()
	for _, e := range j.entries {
		if e.Step == j.step && e.done() && e.takenBy != len(j.logs) && !e.kept {
			orphans = append(orphans, e.Entry)
		}
	}
	j.step, j.logs = j.step+1, nil
	return orphans
}

// Seal closes the step as Accept does, and says that what its last attempt did is
// not meant to be done again: a result of no use is no reason to. In later steps
// the record answers the same call too, unless the program says that it wants it
// made or the tool is idempotent or repeatable.
func (j *Journal) Seal() (orphans []Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e.Step == j.step && e.takenBy == len(j.logs) {
			e.sealed = true
		}
	}
	return j.accept()
}

// Keep says that what the last attempt has done stands, though its answer was not
// accepted: it ran in a session, where its variables do. Its effects are no orphans
// if the next attempt goes on from there and does not call them again. If it does,
// it is given their record, as ever.
func (j *Journal) Keep() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e.Step == j.step && e.takenBy == len(j.logs) {
			e.kept = true
		}
	}
}

// End ends the attempt under way, as [Journal.Attempt] does, and begins none: the
// record of a run that is over.
func (j *Journal) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.giveUp()
}

// giveUp ends the calls that are under way.
func (j *Journal) giveUp() {
	for _, e := range j.entries {
		switch e.State {
		case Intended:
			e.Err = errOver
			e.settle(Rejected)
		case Dispatched:
			e.Err = errUnanswered
			e.settle(Unknown)
		}
	}
}

// Open returns the calls of the open step that are no reads, all its attempts
// together, in order of issue: what a rewritten program has to reckon with.
func (j *Journal) Open() []Entry {
	return j.list(func(e *entry) bool { return e.Step == j.step && e.Class != tools.Read })
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
	step    int
	number  int // from 1
}

var _ tools.Ledger = (*Attempt)(nil)

// errOver answers a program that still makes calls when the next one has begun.
var errOver = errors.New("journal: the program that made this call has ended")

// errUnanswered is what is known of a call that was given up.
var errUnanswered = errors.New("the tool had not answered when the program that called it was over")

// Issue implements [tools.Ledger]. The error is a *[tools.HoldError] or
// [tools.Fatal]: an *[UnknownError], or that another attempt has begun.
func (a *Attempt) Issue(c tools.Call) (tools.Entry, error) {
	key, err := keyOf(c)
	if err != nil {
		return nil, tools.Fatal(err)
	}
	j := a.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if a.step != j.step || a.number != len(j.logs) {
		return nil, tools.Fatal(errOver)
	}
	e, err := a.match(c, key)
	if err != nil {
		return nil, err
	}
	live := e == nil
	if live {
		e = j.add(c, key, a.number)
	}
	e.takenBy = a.number
	j.logs[a.number-1] = append(j.logs[a.number-1], e)
	return ticket{e, live}, nil
}

func (j *Journal) add(c tools.Call, key string, attempt int) *entry {
	hints := c.Tool.Hints
	e := &entry{
		Entry: Entry{
			ID: fmt.Sprintf("E%d", len(j.entries)+1), Step: j.step, Attempt: attempt,
			Tool: c.Tool.Path(), Class: hints.Class, Args: c.Args, State: Intended,
		},
		journal: j, key: key, said: said(c.Repeat), server: c.Tool.Namespace,
		issued: j.tick(),
		effect: hints.Class != tools.Read && !hints.Repeatable,
	}
	j.entries = append(j.entries, e)
	return e
}
