package journal

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/writ-go/writ/tools"
)

// Attempt is the [tools.Attempt] of one program.
type Attempt struct {
	journal *Journal
	step    int
	inStep  int // its number in the step, from 1
	number  int // its number in the run, from 1

	over    bool            // the program has ended
	named   map[*entry]bool // entries that calls of this program have named
	changed *entry          // a read that gave another value than the same read did in an earlier attempt
}

var _ tools.Attempt = (*Attempt)(nil)

// errOver answers a program that still makes calls when it has ended.
var errOver = errors.New("journal: the program that made this call has ended")

// errUnanswered is what is known of a call that was given up.
var errUnanswered = errors.New("the tool had not answered when the program that called it ended")

// Issue implements [tools.Attempt]. The error is a *[tools.HoldError] or
// [tools.Fatal]: an *[UnknownError], or that another attempt has begun.
func (a *Attempt) Issue(c tools.Call) (tools.Entry, error) {
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
	q := a.query(c, key)
	e, err := q.decide()
	if err != nil {
		return nil, err
	}
	for e := range q.named {
		a.named[e] = true
	}
	live := e == nil
	if live {
		e = a.add(q)
	}
	e.takenBy = a.number
	return ticket{e, live}, nil
}

// add records a call that is to be performed.
func (a *Attempt) add(q *query) *entry {
	j, c := a.journal, q.call
	e := &entry{
		Entry: Entry{
			ID: fmt.Sprintf("E%d", len(j.entries)+1), Step: a.step, Attempt: a.inStep,
			Tool: c.Tool.Path(), Class: q.class, Args: c.Args, State: Intended,
			Repeatable: c.Tool.Hints.Repeatable, Repeats: ids(q.again),
		},
		attempt: a, binding: c.Tool, call: c, key: q.key, performed: q.key, id: q.id, server: c.Tool.Namespace,
		issued: j.tick(),
		fresh:  c.Repeat != nil && c.Repeat.Fresh && q.class == tools.Read,
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

// orphaned reports whether an effect of the step has no part in this attempt.
func (a *Attempt) orphaned(e *entry) bool {
	if a == nil {
		return true
	}
	if e.takenBy == a.number || a.named[e] {
		return false
	}
	for _, read := range a.journal.entries {
		if read.attempt == a && read.server == e.server && read.Class == tools.Read && read.State == OK && e.before(read) {
			return false
		}
	}
	return true
}

// compare notes whether a read that has just been answered gave another value than
// the same read did in an earlier attempt at the step.
func (a *Attempt) compare(read *entry) {
	for _, e := range a.journal.byKey[read.key] {
		if e.Step == a.step && e.attempt != a && e.State == OK && !bytes.Equal(e.Result, read.Result) {
			a.changed = read
		}
	}
}
