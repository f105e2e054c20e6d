package journal

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
)

// Options configures a [Journal]. Nil means the defaults.
type Options struct {
	// Reconcile, if set, finds out whether a call whose outcome is unknown took effect, for
	// example by looking for the effect on the server. If Reconcile is nil, the run ends when
	// a program repeats such a call. If Reconcile returns an error, the call stays unknown.
	Reconcile func(ctx context.Context, e Entry) (Reconciled, error)
}

// Reconciled is the result of Options.Reconcile.
type Reconciled struct {
	State  State           // StateOK, StateRejected if the call was not performed, or StateUnknown
	Result json.RawMessage // if State is StateOK
}

// Journal records one run's calls in memory. Use [New] to create one. It is safe for concurrent use.
type Journal struct {
	options Options
	run     string // the run's ID

	mu       sync.Mutex
	entries  []*entry
	byKey    map[string][]*entry
	fresh    map[toolID]bool // unclassified tools for which a program passed {fresh: true}
	step     int
	attempts int      // number of attempts in the open step
	current  *Attempt // nil before the first attempt
	numbers  int      // number of attempts in the run
	clock    int      // counts the events: a call is issued, or ends
}

// toolID identifies a tool.
type toolID struct{ server, name string }

// New returns an empty journal whose first step is open. Nil options are the defaults.
func New(o *Options) *Journal {
	j := &Journal{run: "r-" + strings.ToLower(rand.Text()[:8]), step: 1, byKey: map[string][]*entry{}, fresh: map[toolID]bool{}}
	if o != nil {
		j.options = *o
	}
	return j
}

// Attempt starts an attempt of the open step, for one program, and ends the attempt before it. The ended attempt's
// calls that wait for their tools become unknown until the tools answer; those that have not been dispatched are
// rejected.
func (j *Journal) Attempt() *Attempt {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.settleOpen()
	j.attempts++
	j.numbers++
	j.current = &Attempt{journal: j, step: j.step, inStep: j.attempts, number: j.numbers, named: map[*entry]bool{}}
	return j.current
}

// Accept closes the step, after its program has finished and its answer, if any, was accepted. It returns the orphans:
// effects of earlier attempts that the last attempt neither consumed nor named. It cannot have seen them, because it
// did not read from their server after they happened. Effects of repeatable tools are not orphans.
func (j *Journal) Accept() (orphans []Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.settleOpen()
	for _, e := range j.entries {
		if e.Step == j.step && e.done() && j.current.orphaned(e) {
			orphans = append(orphans, e.Entry)
		}
	}
	j.step, j.attempts, j.current = j.step+1, 0, nil
	return orphans
}

// End ends the current attempt as [Journal.Attempt] does, without starting another.
func (j *Journal) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.settleOpen()
	if j.current != nil {
		j.current.over = true
	}
}

// settleOpen settles the calls that have not ended.
func (j *Journal) settleOpen() {
	for _, e := range j.entries {
		switch e.State {
		case dispatch.StateIntended:
			e.Err = errOver
			e.settle(StateRejected)
		case dispatch.StateDispatched:
			e.Err = errUnanswered
			e.settle(StateUnknown)
		}
	}
}

// Reconcile calls Options.Reconcile, if it is set, once for every effect whose outcome is unknown and whose tool has
// returned, except for repeatable tools' effects. Call Reconcile between two attempts. Its error joins the errors that
// Options.Reconcile returned.
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
		if e.State == StateUnknown && !e.reconciled && !e.pending && e.ordered() {
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
	if e.State != StateUnknown { // the tool has answered meanwhile
		return
	}
	switch r.State {
	case StateOK:
		e.State, e.Result, e.Err = StateOK, r.Result, nil
	case StateRejected:
		e.State = StateRejected
	}
}

// Open returns the calls made by all attempts in the open step, without reads, in order of issue.
func (j *Journal) Open() []Entry {
	return j.list(func(e *entry) bool { return e.Step == j.step && e.Class != tools.Read })
}

// Unresolved returns the effects that failed or whose outcome is unknown, in order of issue. It leaves out effects that
// a later call repeated successfully or named.
func (j *Journal) Unresolved() []Entry {
	return j.list(func(e *entry) bool {
		repeated := func(o *entry) bool { return o.State == StateOK && e.before(o) }
		return e.uncertain() && e.ordered() && !slices.ContainsFunc(e.namedBy, (*entry).counts) &&
			!slices.ContainsFunc(j.byKey[e.key], repeated)
	})
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
