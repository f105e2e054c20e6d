package journal

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
)

// Attempt records one program's calls. It is the Attempt of a sandbox.Program. If the journal has a log, the Attempt
// also records how the program runs.
type Attempt struct {
	journal *Journal
	step    int
	inStep  int // number in the step, from 1
	number  int // number in the run, from 1

	over    bool            // the program has ended
	calls   int             // the number of calls that were issued, including held ones
	turns   int             // the number of recorded turns that the program has not repeated
	named   map[*entry]bool // entries that this program has named in calls' second arguments
	changed *entry          // a read that returned a different value than in an earlier attempt
}

var _ dispatch.Recorder = (*Attempt)(nil)

// errOver is the error for calls that a program makes after it has ended.
var errOver = errors.New("journal: the program that made this call has ended")

// errUnanswered is the error for calls that were still running when the attempt ended.
var errUnanswered = errors.New("the tool had not answered when the program that called it ended")

// Issue decides what happens to a tool call that the program makes. The parameter all has the tools that
// the program may call. The error is a *[tools.HoldError], or a [tools.Fatal] error: an *[UnknownError], a
// *[DivergedError], an error of the log, or an error that says that the program has ended or that the arguments are not
// JSON.
func (a *Attempt) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	return a.issue(c, all, nil)
}

// issue issues a call of a program or, if reverts is set, a call that undoes an effect and to which the rules do not
// apply.
func (a *Attempt) issue(c tools.Call, all []*tools.Binding, reverts *entry) (dispatch.Entry, error) {
	key, err := c.Tool.Key(c.Args)
	if err != nil {
		return nil, tools.Fatal(err)
	}
	j := a.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if a != j.current || a.over {
		return nil, tools.Fatal(errOver)
	}
	if j.log != nil {
		c.Args = compact(c.Args)
	}
	op := j.newOperation(operation{
		Op: opIssue, Tool: c.Tool.Path(), Server: c.Tool.Namespace, Name: c.Tool.Name, Args: c.Args, Repeat: c.Repeat,
	})
	if reverts != nil {
		op.ID, op.Key, op.Class, op.Reverts = j.nextID(), []byte(key), tools.Effect, reverts.ID
		if err := j.commit(op); err != nil {
			return nil, err
		}
		return j.attach(c, all), nil
	}
	if recorded := j.next(op); recorded != nil {
		return j.repeat(recorded, c, all)
	}
	switch {
	case j.failed != nil:
		return nil, j.failed
	case j.asked:
		return question{}, nil
	}
	return a.decide(op, c, all, key)
}

// decide applies the rules, and records what they say.
func (a *Attempt) decide(op *operation, c tools.Call, all []*tools.Binding, key string) (dispatch.Entry, error) {
	j := a.journal
	q := a.query(c, all, key)
	e, err := q.decide()
	if hold, ok := err.(*tools.HoldError); ok && j.options.OnRepeat != nil {
		answer, failed := q.ask(hold)
		switch {
		case errors.Is(failed, place.ErrPaused):
			j.asked = true
			return question{}, nil
		case failed != nil:
			return nil, tools.Fatal(failed)
		case answer != nil:
			op.Answer, c.Repeat = answer, answer
			q = a.query(c, all, key)
			q.answered = true
			e, err = q.decide()
		}
	}
	if hold, ok := err.(*tools.HoldError); ok {
		op.Hold, op.Told, op.Unseen = hold, q.told, q.unseen
	} else if err != nil {
		return nil, err // the program may be repeated, and make this call, after somebody has found out what happened
	}
	for o := range q.named {
		op.Named = append(op.Named, o.ID)
	}
	slices.Sort(op.Named)
	if e != nil {
		op.ID = e.ID
	} else if err == nil {
		op.ID, op.Key, op.Class, op.Again = j.nextID(), []byte(key), q.class, ids(q.again)
		op.Repeatable, op.Destructive = c.Tool.Hints.Repeatable, c.Tool.Hints.Destructive
	}
	if err := j.commit(op); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	if e == nil {
		e = j.attach(c, all)
	}
	return e, nil
}

func (j *Journal) nextID() string { return "E" + strconv.Itoa(len(j.entries)+1) }

// attach gives the newest entry its call.
func (j *Journal) attach(c tools.Call, all []*tools.Binding) *entry {
	e := j.entries[len(j.entries)-1]
	e.call, e.all = c, all
	return e
}

// orphaned reports whether the attempt neither consumed nor named e, and could not have seen it. If a is nil, every
// effect is orphaned.
func (a *Attempt) orphaned(e *entry) bool {
	if a == nil {
		return true
	}
	if e.consumedBy == a.number || a.named[e] {
		return false
	}
	for _, read := range a.journal.entries {
		done := read.attempt == a && read.Class == tools.Read && read.isDone()
		if done && read.id.server == e.id.server && e.before(read) {
			return false
		}
	}
	return true
}

// compare records whether a read has returned a different value than the same read in an earlier attempt of the step.
func (a *Attempt) compare(read *entry) {
	for _, e := range a.journal.byKey[read.key] {
		if e.step == a.step && e.attempt != a && e.State == StateOK && !bytes.Equal(e.Result, read.Result) {
			a.changed = read
		}
	}
}
