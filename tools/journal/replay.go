package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
)

// do repeats an operation of the module, or records a new one.
func (j *Journal) do(op *operation) {
	if recorded := j.next(op); recorded != nil {
		recorded.attempt = op.attempt
		_ = j.apply(recorded) // Open has checked it
		return
	}
	_ = j.commit(op) // Sync and the next call return the error
}

// next returns the recorded active operation that op repeats, or nil if op is new. It first applies what happened
// before, such as results of tools. If another operation was recorded, the journal fails.
func (j *Journal) next(op *operation) *operation {
	if j.rolledBack || j.ahead != nil && j.ahead.rolledBack {
		j.fail(errRolledBack)
	}
	at := slices.IndexFunc(j.pending, (*operation).active)
	if at < 0 {
		at = len(j.pending)
	}
	j.play(at)
	if len(j.pending) == 0 {
		return nil
	}
	recorded := j.pending[0]
	if recorded.Op != op.Op || op.Op == opIssue && !recorded.sameCall(op) {
		j.diverge(recorded.String(), op.String())
		return nil
	}
	j.pending = j.pending[1:]
	return recorded
}

// play applies the next n pending operations.
func (j *Journal) play(n int) {
	for _, op := range j.pending[:n] {
		_ = j.apply(op) // Open has checked it
	}
	j.pending = j.pending[n:]
}

func (j *Journal) diverge(recorded, now string) {
	err := &DivergedError{Recorded: recorded, Now: now, Call: 1}
	if a := j.current; a != nil {
		err.Step, err.Attempt, err.Call = a.step, a.inStep, a.calls+1
	}
	j.fail(err)
}

// fail ends the recording. Until the run ends, the journal continues in memory.
func (j *Journal) fail(err error) {
	if j.failed == nil {
		j.failed = tools.Fatal(err)
	}
	j.pending, j.ahead = nil, nil
}

// tip returns the entry in the state after all recorded operations.
func (j *Journal) tip(e *entry) *entry {
	if j.ahead != nil {
		return j.ahead.find(e.ID)
	}
	return e
}

// repeat repeats a recorded call. The entry has the outcome that was recorded later.
func (j *Journal) repeat(op *operation, c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	_ = j.apply(op) // Open has checked it
	if op.Hold != nil {
		return nil, op.Hold
	}
	e := j.find(op.ID)
	if op.Key == nil {
		return e, nil
	}
	if op.Answer != nil {
		c.Repeat = op.Answer
	}
	e.call, e.all = c, all
	tip := j.tip(e)
	answer, again := tip.replay()
	elsewhere := j.options.Elsewhere != nil && j.options.Elsewhere(e.ID, c.Tool)
	again = again || elsewhere || c.Tool.Module != nil // a module's calls are recorded, too: it goes on where it was
	switch {
	case answer != nil:
		e.tell(answer.State)
		return replayed{e, answer, tip}, nil
	case !again:
		unknown := tip.Entry
		j.play(len(j.pending)) // what is resolved later is known, and other calls in progress are unknown, too
		j.fail(&UnknownError{Entry: unknown})
		return nil, j.failed
	}
	e.again = !elsewhere && tip.called && tip.State != StateRejected && tip.Class != tools.Read
	return e, nil
}

// replay returns what a repeated program gets for the call. Without an answer, it reports whether the call is to be
// made: for the first time, or again, if that does no harm.
func (e *entry) replay() (answer *operation, again bool) {
	j := e.attempt.journal
	switch {
	case e.answer != nil:
		return e.answer, false
	case e.isDone():
		return &operation{State: StateOK, Result: e.Result}, false
	case j.current != e.attempt: // the program went on without an answer, and ended
		te := &tools.ToolError{Tool: e.Tool, Kind: tools.KindDenied, Message: errOver.Error()}
		if e.State != StateRejected {
			te.Kind, te.Message = tools.KindUnknown, errUnanswered.Error()
		}
		return &operation{State: e.State, Error: te}, false
	}
	safe := e.Class == tools.Read || e.Repeatable || e.Class == tools.Idempotent && !slices.ContainsFunc(j.entries,
		func(o *entry) bool { return o.id.server == e.id.server && o.issued > e.issued && o.Class != tools.Read })
	return nil, safe || !e.called || e.State == StateRejected
}

// replayed is the entry of a repeated call. It implements [dispatch.Replayed].
type replayed struct {
	*entry
	answer *operation
	tip    *entry
}

// Recorded implements [dispatch.Entry].
func (r replayed) Recorded() (json.RawMessage, error, bool) {
	err := r.answer.failure()
	if te, ok := err.(*tools.ToolError); ok && r.answer.State == StateFailed && r.Class != tools.Read {
		te = te.WithCause(te.Unwrap())
		te.ID = r.ID
		err = te
	}
	return r.answer.Result, err, true
}

// Performed implements [dispatch.Replayed].
func (r replayed) Performed() json.RawMessage {
	if !r.tip.called {
		return nil
	}
	return r.tip.Args
}

// Decision implements [dispatch.Replayed].
func (r replayed) Decision() string { return r.answer.Decision }

// Records implements [dispatch.Recorder].
func (a *Attempt) Records() bool { return a.journal.log != nil }

// Begin implements [dispatch.Recorder]. If another program than the recorded one begins, everything that is recorded
// counts as done by earlier programs.
func (a *Attempt) Begin(source, start []byte) (recorded []byte, turns [][]byte, err error) {
	j := a.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.failed != nil:
		return nil, nil, j.failed
	case a != j.current || a.over:
		return nil, nil, tools.Fatal(errOver)
	}
	sum := sha256.Sum256(source)
	begin := &operation{Op: opBegin, Source: sum[:], Start: start}
	op := j.next(begin)
	if op != nil {
		op = j.rewritten(a, op, begin)
	}
	switch {
	case j.failed != nil:
		return nil, nil, j.failed
	case op == nil:
		return start, nil, j.commit(begin)
	}
	turns = j.turns()
	a.turns = len(turns)
	return op.Start, turns, nil
}

// rewritten returns the recorded operation that begin repeats. If the program is another one than when the run was
// repeated last, all pending operations are applied, the attempt is a new one, and rewritten returns nil.
func (j *Journal) rewritten(a *Attempt, recorded, begin *operation) *operation {
	instead := func(op *operation) bool { return op.Op == opBegin && op.Instead == a.number }
	same := func(op *operation) bool { return instead(op) && bytes.Equal(op.Source, begin.Source) }
	at := slices.IndexFunc(j.pending, same)
	if at < 0 && bytes.Equal(recorded.Source, begin.Source) && !slices.ContainsFunc(j.pending, instead) {
		return recorded
	}
	begin.Instead = a.number
	other := *a
	j.current = &other
	if at < 0 {
		j.play(len(j.pending))
		_ = j.commit(&operation{Op: opAttempt, attempt: a}) // the next commit returns the error
		return nil
	}
	j.pending[at-1].attempt = a
	j.play(at)
	recorded, j.pending = j.pending[0], j.pending[1:]
	return recorded
}

// turns returns the pending turns of the current attempt.
func (j *Journal) turns() (list [][]byte) {
	for _, op := range j.pending {
		if op.Op == opAttempt || op.Op == opAccept || op.Op == opContinue {
			break
		}
		list = append(list, op.Turns...)
	}
	return list
}

// Turns implements [dispatch.Recorder]. If more is recorded that the module or its programs do next, other turns are
// not recorded: a hold has ended the program earlier, and in the log they would be turns of a later program.
func (a *Attempt) Turns(turns [][]byte) {
	j := a.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	known := min(a.turns, len(turns))
	a.turns -= known
	if j.log == nil || a != j.current || known == len(turns) || slices.ContainsFunc(j.pending, (*operation).active) {
		return
	}
	_ = j.commit(&operation{Op: opTurns, Turns: turns[known:]}) // the next call returns the error
}

// look is called before somebody looks at the entries. If calls could still be settled, it records the point, so that
// the entries are the same at this point when the run is repeated, although results arrive at any time.
func (j *Journal) look() {
	if j.log != nil && j.failed == nil && j.unsettled {
		j.passBy(&operation{Op: opLook})
	}
}

// passBy repeats an end or a look, or records a new one: the process may have ended before the operation was recorded,
// and an end does not count if the program was only interrupted and went on in the next process.
func (j *Journal) passBy(op *operation) {
	kind := op.Op
	at, last := -1, len(j.pending)
	for i, o := range j.pending {
		if o.active() {
			last = i
			break
		}
		switch {
		case o.Op == kind && (at < 0 || kind == opEnd):
			at = i
		case kind == opEnd && (o.Op == opDispatch || o.Op == opTurns):
			at = -1 // the program went on
		}
	}
	switch {
	case at >= 0:
		j.play(at + 1)
	case last == len(j.pending):
		j.play(last)
		_ = j.commit(op) // Sync and the next call return the error
	case kind == opEnd && j.pending[last].Op == opIssue:
		j.diverge(j.pending[last].String(), op.String())
		j.settleOpen(nil)
	}
}

// reconciled returns the recorded error of Options.Reconcile for an entry, and true if Options.Reconcile is not to be
// called.
func (j *Journal) reconciled(e *entry) (err error, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, op := range j.pending {
		switch {
		case op.active():
			return nil, true
		case op.Op == opReconcile && op.ID == e.ID:
			j.play(i + 1)
			return op.failure(), true
		}
	}
	j.play(len(j.pending))
	return nil, false
}
