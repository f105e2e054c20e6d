package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools"
)

// match decides what becomes of a call, by the rules of the package comment:
// the entry whose outcome answers it, nil to make it, or an error that ends the
// attempt.
func (a *Attempt) match(c tools.Call, key string) (*entry, error) {
	if c.Tool.Hints.Class == tools.Read {
		return a.recordedRead(key), nil
	}
	if err := a.journal.unknown(c, key); err != nil {
		return nil, err
	}
	if e, err := a.journal.answer(c); e != nil || err != nil {
		return e, err
	}
	done := a.untaken(key, said(c.Repeat))
	if done == nil {
		return a.journal.sealed(key, said(c.Repeat)), nil
	}
	if before := a.skipped(done); before != nil {
		return nil, hold(c, "%s did exactly this, but after %s %s, which this program has not called; "+
			"call that first, or pass {same: %q} as the second argument to take the recorded result, or {again: %q} to do it again",
			done.ID, before.ID, describe(before.Tool, before.Args), done.ID, done.ID)
	}
	return done, nil
}

// recordedRead returns what a read gave an earlier attempt, as long as this one
// does exactly what that one did and an effect followed there: whatever that
// effect was computed from must be read again as it was.
func (a *Attempt) recordedRead(key string) *entry {
	logs := a.journal.logs
	mine := logs[a.number-1]
	for _, log := range logs[:a.number-1] {
		if len(log) <= len(mine) || !samePrefix(mine, log) {
			continue
		}
		read, rest := log[len(mine)], log[len(mine)+1:]
		if read.key == key && read.State == OK && slices.ContainsFunc(rest, (*entry).acted) {
			return read
		}
	}
	return nil
}

func samePrefix(mine, log []*entry) bool {
	for i, e := range mine {
		if log[i].key != e.key {
			return false
		}
	}
	return true
}

// unknown refuses a call that may have happened already.
func (j *Journal) unknown(c tools.Call, key string) error {
	if c.Tool.Hints.Repeatable {
		return nil
	}
	idempotent := c.Tool.Hints.Class == tools.Idempotent
	for _, e := range j.entries {
		if e.key != key || e.State != Unknown || idempotent && (j.resolved(e) || !j.followed(e)) {
			continue
		}
		return tools.Fatal(&UnknownError{Entry: e.Entry})
	}
	return nil
}

// resolved reports whether an unknown call of an idempotent tool was made again
// and done: that stands for both.
func (j *Journal) resolved(e *entry) bool {
	return slices.ContainsFunc(j.entries, func(o *entry) bool {
		return o.key == e.key && o.State == OK && o.issued > e.issued
	})
}

// followed reports whether there was another effect on e's server after e, which
// doing e once more might undo.
func (j *Journal) followed(e *entry) bool {
	return slices.ContainsFunc(j.entries, func(o *entry) bool {
		return o.key != e.key && o.server == e.server && o.acted() && e.before(o)
	})
}

// answer returns the entry that a program names as the same call, if it does. The
// error is that there is none of a name.
func (j *Journal) answer(c tools.Call) (*entry, error) {
	if c.Repeat == nil {
		return nil, nil
	}
	ids := slices.Clone(c.Repeat.Distinct)
	for _, id := range []string{c.Repeat.Again, c.Repeat.Same} {
		if id != "" {
			ids = append(ids, id)
		}
	}
	var e *entry
	for _, id := range ids {
		if e = j.named(id, c); e == nil {
			return nil, hold(c, "there is no call of %s under the name %q", c.Tool.Path(), cut(id, 100))
		}
	}
	switch {
	case c.Repeat.Same == "":
		return nil, nil
	case e.State != OK:
		return nil, hold(c, "%s is not done but %s, so it has no record to take", e.ID, e.State)
	}
	return e, nil
}

// said is what a program says of a repeat that it wants to be made, as one text;
// "" for nothing.
func said(r *tools.Repeat) string {
	if r == nil || r.Again == "" && len(r.Distinct) == 0 {
		return ""
	}
	return fmt.Sprintf("%q %q", r.Again, slices.Sorted(slices.Values(r.Distinct)))
}

// named returns the entry of a name, if that is a call of the same tool.
func (j *Journal) named(id string, c tools.Call) *entry {
	i := slices.IndexFunc(j.entries, func(e *entry) bool { return e.ID == id && e.Tool == c.Tool.Path() })
	if i < 0 {
		return nil
	}
	return j.entries[i]
}

// untaken returns the first call with this key that is done in the open step and
// that this attempt has neither made nor taken the record of. What a program
// repeats on purpose is answered only by a repeat made with the same words: a
// program that is run again means the same as the first time.
func (a *Attempt) untaken(key, said string) *entry {
	return a.first(func(e *entry) bool {
		return e.key == key && e.State == OK && e.takenBy != a.number && (said == "" || e.said == said)
	})
}

// sealed returns an effect of a step closed for good that answers its repeat.
func (j *Journal) sealed(key, said string) *entry {
	for _, e := range j.entries {
		if e.sealed && e.key == key && e.Class == tools.Effect && e.done() && said == "" {
			return e
		}
	}
	return nil
}

// skipped returns an effect that was done before e on the same server and that
// this attempt has not come to: to answer with e now would put the two in the
// wrong order. The host's own tools count as one server. What was kept has had its
// turn.
func (a *Attempt) skipped(e *entry) *entry {
	return a.first(func(o *entry) bool {
		return o.server == e.server && o.done() && o.takenBy != a.number && !o.kept && o.before(e)
	})
}

// first returns the first entry of the open step that fits.
func (a *Attempt) first(fits func(*entry) bool) *entry {
	for _, e := range a.journal.entries {
		if e.Step == a.step && fits(e) {
			return e
		}
	}
	return nil
}

func hold(c tools.Call, format string, args ...any) error {
	return &tools.HoldError{Call: describe(c.Tool.Path(), c.Args), Message: fmt.Sprintf(format, args...)}
}

func describe(tool string, args json.RawMessage) string {
	return fmt.Sprintf("%s(%s)", tool, cut(string(args), 200))
}

// cut is how a text begins.
func cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// UnknownError ends a run: a program wants to make a call that may have
// happened already, and neither the model nor the journal can know. It is what
// [Attempt.Issue] returns, marked as [tools.Fatal].
type UnknownError struct {
	Entry Entry // the earlier call
}

// Unwrap returns what the call that was made ended in.
func (e *UnknownError) Unwrap() error { return e.Entry.Err }

// Error says what to do about it.
func (e *UnknownError) Error() string {
	call := e.Entry.ID + " " + describe(e.Entry.Tool, e.Entry.Args)
	if e.Entry.Class == tools.Idempotent {
		return fmt.Sprintf("journal: %s may have taken effect, and nobody knows whether it did; another effect on its server followed, "+
			"so it is not made again. Find out what happened", call)
	}
	return fmt.Sprintf("journal: %s may have taken effect, and nobody knows whether it did; it is not made again. "+
		"Find out what happened, or, if to repeat it does no harm, declare the tool idempotent", call)
}
