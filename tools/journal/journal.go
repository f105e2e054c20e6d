package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/writ-go/writ/tools"
)

// Options configures a [Journal]. Nil is the defaults.
type Options struct {
	// Reconcile, if set, finds out what became of a call whose outcome is unknown,
	// for example by looking its effect up at the server. Without it, a program that
	// makes such a call again ends the run. An error leaves the call unknown.
	Reconcile func(ctx context.Context, e Entry) (Reconciled, error)
}

// Reconciled is what became of a call whose outcome was unknown.
type Reconciled struct {
	State  State           // OK, Rejected if it was not done, or Unknown if that cannot be found out
	Result json.RawMessage // of a call that is OK
}

// Journal is the record of one run, kept in memory. It is made by [New], and
// safe for concurrent use.
type Journal struct {
	options Options

	mu       sync.Mutex
	entries  []*entry
	byKey    map[string][]*entry
	fresh    map[toolID]bool // unclassified tools that a program says only read
	step     int
	attempts int      // of the open step
	current  *Attempt // nil before the first
	numbers  int      // attempts of the whole run
	clock    int      // counts calls issued and ended, to tell "after" from "at the same time"
}

// toolID is a tool, whatever programs call it.
type toolID struct{ server, name string }

// New returns an empty journal whose first step is open. Nil options are the
// defaults.
func New(o *Options) *Journal {
	j := &Journal{step: 1, byKey: map[string][]*entry{}, fresh: map[toolID]bool{}}
	if o != nil {
		j.options = *o
	}
	return j
}

// Attempt starts an attempt at the open step: one program. The attempt before it
// ends: its calls that are with their tools are unknown until the answer comes, and
// its other calls are not made any more.
func (j *Journal) Attempt() *Attempt {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.giveUp()
	j.attempts++
	j.numbers++
	j.current = &Attempt{journal: j, step: j.step, inStep: j.attempts, number: j.numbers, named: map[*entry]bool{}}
	return j.current
}

// Accept closes the step: its program has finished, and its answer, if it gave one,
// was accepted. It returns the orphans: effects, other than repeatable ones, that the
// last attempt neither called nor named nor could have seen, because it read nothing
// from their server afterwards. They were done for a program that was then rewritten
// without them.
func (j *Journal) Accept() (orphans []Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.giveUp()
	for _, e := range j.entries {
		if e.Step == j.step && e.done() && j.current.orphaned(e) {
			orphans = append(orphans, e.Entry)
		}
	}
	j.step, j.attempts, j.current = j.step+1, 0, nil
	return orphans
}

// End ends the attempt under way, as [Journal.Attempt] does, and starts none: the
// program is over.
func (j *Journal) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.giveUp()
	if j.current != nil {
		j.current.over = true
	}
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

// Reconcile asks Options.Reconcile, if there is one, about every effect whose outcome
// is unknown, whose tool is not at work any more, and of which it has not been asked
// before, other than repeatable ones. It is called between two attempts. The error joins those of Options.Reconcile.
func (j *Journal) Reconcile(ctx context.Context) error {
	if j.options.Reconcile == nil {
		return nil
	}
	var errs []error
	for _, e := range j.unreconciled() {
		r, err := j.options.Reconcile(ctx, j.entry(e))
		if err != nil {
			errs = append(errs, fmt.Errorf("journal: reconciling %s %s: %w", e.ID, e.Tool, err))
			continue
		}
		j.reconciled(e, r)
	}
	return errors.Join(errs...)
}

func (j *Journal) unreconciled() (list []*entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e.State == Unknown && !e.reconciled && !e.pending && e.ordered() {
			list = append(list, e)
		}
	}
	return list
}

func (j *Journal) entry(e *entry) Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return e.Entry
}

func (j *Journal) reconciled(e *entry, r Reconciled) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.reconciled = true
	if e.State != Unknown { // its answer has come meanwhile
		return
	}
	switch r.State {
	case OK:
		e.State, e.Result, e.Err = OK, r.Result, nil
	case Rejected:
		e.State = Rejected
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

func (j *Journal) tick() int {
	j.clock++
	return j.clock
}
