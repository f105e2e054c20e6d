package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
)

// apply changes the state of the journal. All changes are made here, so that a log leads to the same state as the run
// that wrote it. An error says that the operation does not fit the state.
func (j *Journal) apply(op *operation) error {
	err := j.change(op)
	if op.active() || op.Op == opLook || op.Op == opEnd {
		j.unsettled = j.working > 0
	}
	return err
}

func (j *Journal) change(op *operation) error {
	a := j.current
	switch op.Op {
	case opAttempt, opRollback:
		j.rolledBack = j.rolledBack || op.Op == opRollback
		j.start(op.attempt)
		return nil
	case opAccept:
		j.settleOpen(nil)
		j.step, j.attempts, j.current = j.step+1, 0, nil
		for _, e := range j.entries {
			if e.carried {
				e.step = j.step
			}
		}
		return nil
	case opContinue:
		j.carry()
		return nil
	case opNextTurn:
		j.nextTurn()
		return nil
	case opTurns, opLook:
		return nil
	case opEnd:
		j.settleOpen(op.Named)
		return nil
	case opBegin, opIssue:
		if a == nil {
			return errors.New("no program is running")
		}
		if op.Op == opIssue {
			return j.applyIssue(a, op)
		}
		return nil
	}
	e := j.find(op.ID)
	if e == nil {
		return fmt.Errorf("%q is not an entry", op.ID)
	}
	switch op.Op {
	case opDispatch:
		return e.dispatch(op)
	case opSettle:
		e.settleAs(op)
	case opReconcile, opResolve:
		e.resolve(op)
	default:
		return fmt.Errorf("the kind of operation %q is unknown", op.Op)
	}
	return nil
}

// start starts an attempt. It allocates one if a is nil.
func (j *Journal) start(a *Attempt) {
	if a == nil {
		a = &Attempt{}
	}
	j.settleOpen(nil)
	j.idle = 0
	j.attempts++
	j.numbers++
	*a = Attempt{journal: j, step: j.step, inStep: j.attempts, number: j.numbers, named: map[*entry]bool{}}
	j.current = a
}

// nextTurn closes the step and begins a turn. A call counts as done in the earlier turn only if that was known when the
// turn's last program ended. Otherwise, the model was told that the outcome is uncertain.
func (j *Journal) nextTurn() {
	end := cmp.Or(j.idle, j.clock)
	for _, e := range j.entries {
		e.past = e.past || e.isDone() && e.ended <= end
		e.carried = false
	}
	j.settleOpen(nil)
	if j.turn++; j.attempts > 0 {
		j.step++
	}
	j.attempts, j.current = 0, nil
}

// carry begins another run of the module. What the earlier runs did is carried over.
func (j *Journal) carry() {
	j.settleOpen(nil)
	j.turn++
	j.current = nil
	for _, e := range j.entries {
		if !e.past {
			e.carried, e.step = true, j.step
		}
	}
}

func (j *Journal) applyIssue(a *Attempt, op *operation) error {
	a.calls++
	if op.Hold != nil {
		j.hold(op)
		return nil
	}
	again, named := j.findAll(op.Again), j.findAll(op.Named)
	if len(again) < len(op.Again) || len(named) < len(op.Named) {
		return errors.New("it names an entry that does not exist")
	}
	e := j.find(op.ID)
	if op.Key != nil {
		if op.ID != j.nextID() {
			return fmt.Errorf("the next entry is %s, not %q", j.nextID(), op.ID)
		}
		e = j.add(a, op)
		e.repeat(again, named)
		e.setOrigin(op)
	}
	if e == nil {
		return fmt.Errorf("%q is not an entry", op.ID)
	}
	for _, o := range named {
		a.named[o] = true
	}
	e.consumedBy, e.unheard, e.carried = a.number, false, false
	return nil
}

// add adds the entry of a call that will be performed.
func (j *Journal) add(a *Attempt, op *operation) *entry {
	says := cmp.Or(op.Answer, op.Repeat)
	e := &entry{
		Entry: Entry{
			ID: op.ID, Turn: j.turn, Step: a.step, Attempt: a.inStep,
			Tool: op.Tool, Class: op.Class, Args: op.Args, State: dispatch.StateIntended,
			Repeatable: op.Repeatable, Repeats: op.Again, Reverts: op.Reverts, Labels: op.Labels,
		},
		attempt: a, step: a.step, key: string(op.Key), id: toolID{op.Server, op.Name}, issued: j.tick(),
		destructive: op.Destructive, fresh: says != nil && says.Fresh && op.Class == tools.Read,
		answered: op.Answer != nil,
	}
	e.performed = e.key
	j.working++
	j.entries = append(j.entries, e)
	j.byKey[e.key] = append(j.byKey[e.key], e)
	return e
}

func (e *entry) repeat(again, named []*entry) {
	for _, o := range again {
		o.repeatedBy = append(o.repeatedBy, e)
	}
	for _, o := range named {
		o.namedBy = append(o.namedBy, e)
	}
}

// setOrigin finds the call that e repeats, which had no result and is not repeated yet: one that e names, whatever its
// arguments, or else one with the same key.
func (e *entry) setOrigin(op *operation) {
	e.origin = e
	j := e.attempt.journal
	var again []*entry
	if says := cmp.Or(op.Answer, op.Repeat); says != nil {
		again = j.findAll(says.Again)
	}
	for _, o := range slices.Concat(again, j.byKey[e.key]) {
		if o != e && o.id == e.id && o.ended > 0 && o.called && o.State != StateOK && !o.continued {
			o.continued, e.origin = true, o.origin
			return
		}
	}
}

// hold remembers why a call was held.
func (j *Journal) hold(op *operation) {
	if op.Told {
		for _, e := range j.findAll(op.Hold.Entries) {
			e.told = j.current
		}
	}
	for _, e := range j.entries {
		e.unseen = e.unseen || op.Unseen && e.id == toolID{op.Server, op.Name} && e.State == StateFailed
	}
}

func (e *entry) dispatch(op *operation) error {
	j := e.attempt.journal
	if op.Hold != nil {
		j.hold(op)
		return nil
	}
	if e.answer != nil {
		return fmt.Errorf("%s has ended already", e.ID)
	}
	if op.Key != nil {
		key := string(op.Key)
		if !e.is(key) {
			j.byKey[key] = append(j.byKey[key], e)
		}
		if e.Requested == nil {
			e.Requested = e.Args
		}
		e.Args, e.performed = op.Args, key
	}
	if e.fresh {
		j.fresh[e.id] = true
	}
	e.State, e.called = dispatch.StateDispatched, true
	e.setPending(true)
	return nil
}

// setPending says whether the tool is working on the call.
func (e *entry) setPending(pending bool) {
	switch j := e.attempt.journal; {
	case pending && e.finished:
		j.working++
	case !pending && !e.finished:
		j.working--
	}
	e.pending, e.finished = pending, !pending
}

// settleAs records how a call has ended. It may end several times: see [dispatch.Entry].
func (e *entry) settleAs(op *operation) {
	e.setPending(op.Pending)
	if e.answer == nil && !op.Unheard {
		e.answer = op // without a log, only whether there is one counts
	}
	if e.State == StateOK && op.State != StateOK {
		return // an abandoned try has ended after a successful one
	}
	e.unheard = e.State == StateUnknown && op.State == StateOK // the answer is late
	e.Result, e.Err = op.Result, op.failure()
	e.settle(op.State)
	if op.State == StateOK && e.Class == tools.Read {
		e.attempt.compare(e)
	}
}

// resolve records what Options.Reconcile or a person has found out.
func (e *entry) resolve(op *operation) {
	if op.Fatal != "" {
		return
	}
	e.reconciled = true
	if !e.open() { // the tool has answered meanwhile
		return
	}
	switch op.State {
	case StateOK:
		e.Result, e.Err = op.Result, nil
		e.unheard = e.answer != nil
	case StateRejected:
	default:
		return
	}
	if e.State = op.State; e.ended == 0 {
		e.settle(op.State)
	}
}

// open reports whether it is unknown how the call has ended.
func (e *entry) open() bool { return e.State == StateUnknown || e.State == dispatch.StateDispatched }

func (j *Journal) find(id string) *entry {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "E"))
	if n < 1 || n > len(j.entries) || j.entries[n-1].ID != id {
		return nil
	}
	return j.entries[n-1]
}

func (j *Journal) findAll(ids []string) (list []*entry) {
	for _, id := range ids {
		if e := j.find(id); e != nil {
			list = append(list, e)
		}
	}
	return list
}
