package journal

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
)

// Attempt records one program's calls. It is the Attempt of a sandbox.Program.
type Attempt struct {
	journal *Journal
	step    int
	inStep  int // number in the step, from 1
	number  int // number in the run, from 1

	over    bool            // the program has ended
	named   map[*entry]bool // entries that this program has named in calls' second arguments
	changed *entry          // a read that returned a different value than in an earlier attempt
}

var _ dispatch.Attempt = (*Attempt)(nil)

// errOver is the error for calls that a program makes after it has ended.
var errOver = errors.New("journal: the program that made this call has ended")

// errUnanswered is the error for calls that were still running when the attempt ended.
var errUnanswered = errors.New("the tool had not answered when the program that called it ended")

// Issue decides what happens to a tool call that the program makes. The parameter all has the tools that
// the program may call. The error is a *[tools.HoldError], or a [tools.Fatal] error: an *[UnknownError], or an error
// that says that the program has ended or that the arguments are not JSON.
func (a *Attempt) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
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
	q := a.query(c, all, key)
	e, err := q.decide()
	if err != nil {
		return nil, err
	}
	for e := range q.named {
		a.named[e] = true
	}
	if e == nil {
		e = a.add(q)
	}
	e.consumedBy = a.number
	return e, nil
}

// add records a call that will be performed.
func (a *Attempt) add(q *query) *entry {
	j, c := a.journal, q.call
	e := &entry{
		Entry: Entry{
			ID: fmt.Sprintf("E%d", len(j.entries)+1), Step: a.step, Attempt: a.inStep,
			Tool: c.Tool.Path(), Class: q.class, Args: c.Args, State: dispatch.StateIntended,
			Repeatable: c.Tool.Hints.Repeatable, Repeats: ids(q.again),
		},
		attempt: a, binding: c.Tool, call: c, all: q.tools, key: q.key, performed: q.key, id: q.id,
		server: c.Tool.Namespace, issued: j.tick(),
		fresh: c.Repeat != nil && c.Repeat.Fresh && q.class == tools.Read,
	}
	for _, o := range q.again {
		o.repeatedBy = append(o.repeatedBy, e)
	}
	for o := range q.named {
		o.namedBy = append(o.namedBy, e)
	}
	j.entries = append(j.entries, e)
	j.byKey[q.key] = append(j.byKey[q.key], e)
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
		if read.attempt == a && read.server == e.server && read.Class == tools.Read && read.isDone() && e.before(read) {
			return false
		}
	}
	return true
}

// compare records whether a read has returned a different value than the same read in an earlier
// attempt of the step.
func (a *Attempt) compare(read *entry) {
	for _, e := range a.journal.byKey[read.key] {
		if e.Step == a.step && e.attempt != a && e.State == StateOK && !bytes.Equal(e.Result, read.Result) {
			a.changed = read
		}
	}
}
