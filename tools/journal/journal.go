package journal

import (
	"cmp"
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
	// Run is the run's ID, with which the IDs of its effects begin (see [tools.EffectID]). The default is the ID in the
	// log or, for a new run, a random ID.
	Run string

	// Reconcile, if set, finds out whether a call whose outcome is unknown took effect, for
	// example by looking for the effect on the server. If Reconcile is nil, the run ends when
	// a program repeats such a call. If Reconcile returns an error, the call stays unknown.
	Reconcile func(ctx context.Context, e Entry) (Reconciled, error)

	// OnRepeat, if set, is asked before a call is held. The ID identifies the question in the run, and like are the
	// earlier calls that the call resembles. OnRepeat answers as the call's second argument would; {distinct: "all"}
	// covers all of like, also calls that failed, without a look at the server. If it returns nil, or its answer does
	// not fit, the call is held, and the model decides. An error ends the run. OnRepeat must not wait, or use the
	// Journal. Its answer is recorded. For a person's answer, see agent.Runs.
	OnRepeat func(id string, c tools.Call, like []Entry) (*tools.Repeat, error)

	// Elsewhere, if set, reports whether the calls of a tool are made by somebody else, who knows which calls were made,
	// and who keeps their outcomes until OnSettled is called. If such a call has no outcome in the log, it is made again,
	// whatever its class: whoever makes it returns the outcome of the call that was made.
	// The ID is that of the entry.
	Elsewhere func(id string, b *tools.Binding) bool

	// OnSettled, if set, is called when the log has the outcome of a call, also of one that an earlier process recorded.
	// The outcome is durable after the log's Sync. OnSettled must not wait, or use the Journal.
	OnSettled func(id string, s State)
}

// Reconciled says what has become of a call whose outcome was unknown.
type Reconciled struct {
	State  State           // StateOK, StateRejected if the call was not performed, or StateUnknown
	Result json.RawMessage // if State is StateOK
}

// Journal records one run's calls, in memory or in a log. Use [New] or [Open] to create one. It is safe for concurrent
// use.
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
	turn     int      // of a conversation; 0 without [Journal.Turn]
	idle     int      // the clock when the last program ended, or 0 while a program runs
	clock    int      // counts the events: a call is issued, or ends
	working  int      // the number of calls that may still be settled

	rolledBack bool // see Rollback
	asked      bool // the run pauses because of a question: see [question]

	scratch operation    // see newOperation
	log     Log          // nil: the journal is only in memory
	records int          // the number of records in the log
	synced  int          // the number of records that are durable
	failed  error        // fatal: the log cannot be written, or the run differs from it; nothing is recorded any more
	pending []*operation // recorded operations that have not been repeated
	// unsettled says whether calls could still be settled after the last operation that is active, an end or a look.
	unsettled bool

	ahead *Journal // the state after the pending operations, or nil if no operation is pending
}

// toolID identifies a tool.
type toolID struct{ server, name string }

// New returns an empty journal whose first step is open. Nil options are the defaults.
func New(o *Options) *Journal {
	j := &Journal{step: 1, byKey: map[string][]*entry{}, fresh: map[toolID]bool{}}
	if o != nil {
		j.options = *o
	}
	j.run = cmp.Or(j.options.Run, "r-"+strings.ToLower(rand.Text()[:8]))
	return j
}

// Attempt starts an attempt of the open step, for one program, and ends the attempt before it. The ended attempt's
// calls that wait for their tools become unknown until the tools answer; those that have not been dispatched are
// rejected.
func (j *Journal) Attempt() *Attempt {
	j.mu.Lock()
	defer j.mu.Unlock()
	a := &Attempt{}
	j.do(&operation{Op: opAttempt, attempt: a})
	return a
}

// Accept closes the step, after its program has finished and its answer, if any, was accepted. It returns the orphans:
// effects of earlier attempts that the last attempt neither consumed nor named. It cannot have seen them, because it
// did not read from their server after they happened. Effects of repeatable tools are not orphans.
func (j *Journal) Accept() (orphans []Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	step, last := j.step, j.current
	j.do(&operation{Op: opAccept})
	for _, e := range j.entries {
		if e.step == step && e.done() && last.orphaned(e) {
			orphans = append(orphans, e.Entry)
		}
	}
	return orphans
}

// End ends the current attempt as [Journal.Attempt] does, without starting another.
func (j *Journal) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.current == nil || j.current.over {
		return
	}
	j.current.over = true
	end := &operation{Op: opEnd}
	for _, e := range j.entries {
		if e.paused && e.attempt == j.current {
			end.Named = append(end.Named, e.ID)
		}
	}
	j.passBy(end)
}

// Turn begins a turn of a conversation, and returns its number, from 1. It closes the open step. See the package
// comment for what applies to calls of earlier turns.
func (j *Journal) Turn() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.do(&operation{Op: opNextTurn})
	return j.turn
}

// Continue begins another run of a module that is a tool, for a call that repeats one without a result. All that the
// earlier runs did counts as done by earlier programs of the open step, even if they had closed steps. The parameter
// names the call. Continue returns the number of the run, which is the Turn of its entries.
func (j *Journal) Continue(call string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	again := func(op *operation) bool { return op.Op == opContinue && op.Run == call }
	at := slices.IndexFunc(j.pending, again)
	if at < 0 {
		at = len(j.pending)
	}
	j.play(at)
	j.do(&operation{Op: opContinue, Run: call})
	return j.turn
}

// settleOpen settles the calls that have not ended, except for some.
func (j *Journal) settleOpen(except []string) {
	for _, e := range j.entries {
		switch {
		case slices.Contains(except, e.ID):
		case e.State == dispatch.StateIntended:
			e.Err = errOver
			e.settle(StateRejected)
		case e.State == dispatch.StateDispatched:
			e.Err = errUnanswered
			e.settle(StateUnknown)
		}
	}
	j.idle = j.clock
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
		err, known := j.reconciled(e)
		if !known {
			var r Reconciled
			if r, err = j.options.Reconcile(ctx, j.entry(e)); err != nil {
				err = fmt.Errorf("journal: reconciling %s %s: %w", e.ID, e.Tool, err)
			}
			j.reconcile(ctx, e, r, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (j *Journal) unreconciled() (list []*entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.look()
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

// reconcile records the result of Options.Reconcile.
func (j *Journal) reconcile(ctx context.Context, e *entry, r Reconciled, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	op := j.newOperation(operation{Op: opReconcile, ID: e.ID, State: r.State, Result: r.Result})
	switch {
	case err != nil && ctx.Err() != nil:
		return // the run ends; it is asked again when the run is repeated
	case err != nil:
		op.Fatal, op.Result = err.Error(), nil
	case j.log != nil:
		op.Result = compact(r.Result)
	}
	_ = j.commit(op) // Sync and the next call return the error
}

// Open returns the calls made by all attempts in the open step, without reads, in order of issue.
func (j *Journal) Open() []Entry {
	return j.list(func(e *entry) bool { return e.step == j.step && e.Class != tools.Read })
}

// Unresolved returns the effects that failed or whose outcome is unknown, in order of issue. It leaves out effects that
// a later call repeated successfully or named.
func (j *Journal) Unresolved() []Entry {
	return j.list(j.unresolved)
}

func (j *Journal) unresolved(e *entry) bool {
	repeated := func(o *entry) bool { return o.State == StateOK && e.before(o) }
	return e.uncertain() && e.ordered() && !slices.ContainsFunc(e.namedBy, (*entry).counts) &&
		!slices.ContainsFunc(j.byKey[e.key], repeated)
}

// Entries returns every recorded call, in order of issue.
func (j *Journal) Entries() []Entry {
	return j.list(func(*entry) bool { return true })
}

// Find returns the last call of the open step that has a key (see [tools.Binding.Key]) and that is done, uncertain or
// still in progress. It ignores reads and calls to repeatable tools.
func (j *Journal) Find(key string) (e Entry, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range slices.Backward(j.byKey[key]) {
		if e.step == j.step && e.ordered() && e.counts() {
			return e.Entry, true
		}
	}
	return Entry{}, false
}

func (j *Journal) list(keep func(*entry) bool) []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.look()
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
