package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/tools"
)

// match decides what becomes of a call: the entry whose outcome answers it, nil
// to run it, or an error that ends the attempt.
func (a *Attempt) match(c tools.Call, key string) (*entry, error) {
	if c.Tool.Hints.Class == tools.Read {
		return a.recordedRead(key), nil
	}
	if e := a.find(key, func(e *entry) bool { return e.State == Unknown }); e != nil {
		return nil, a.retryUnknown(c, e)
	}
	if c.Repeat != nil {
		return a.answer(c)
	}
	done := a.find(key, func(e *entry) bool { return e.State == OK && e.consumedBy != a.number })
	if done == nil {
		return nil, nil
	}
	if before := a.skipped(done); before != nil {
		return nil, hold(c, done, before)
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
		if len(log) <= len(mine) || log[len(mine)].key != key || log[len(mine)].State != OK {
			continue
		}
		if samePrefix(mine, log) && slices.ContainsFunc(log[len(mine):], func(e *entry) bool { return e.effect }) {
			return log[len(mine)]
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

// retryUnknown says why a call that may have happened already is not made
// again; nil if it may be.
func (a *Attempt) retryUnknown(c tools.Call, e *entry) error {
	later := func(o *entry) bool { return o.server == e.server && o.effect && o.dispatched > e.dispatched }
	if c.Tool.Hints.Class == tools.Idempotent && !slices.ContainsFunc(a.journal.entries, later) {
		e.State = Rejected // resolved: the repetition, under a new entry, stands for both
		return nil
	}
	if c.Tool.Hints.Repeatable {
		return nil
	}
	return tools.Fatal(&UnknownError{Entry: e.Entry})
}

// answer does what the program says about a call that was held.
func (a *Attempt) answer(c tools.Call) (*entry, error) {
	if c.Repeat.Same == "" {
		return nil, nil // again or distinct: run it
	}
	for _, e := range a.journal.entries {
		if e.ID == c.Repeat.Same && e.Tool == c.Tool.Path() && e.State == OK {
			return e, nil
		}
	}
	return nil, &tools.HoldError{
		Call:    describe(c.Tool.Path(), c.Args),
		Message: fmt.Sprintf("there is no finished call of %s under the name %q", c.Tool.Path(), c.Repeat.Same),
	}
}

// skipped returns an effect that was done before e on the same server and that
// this attempt has not come to: to answer with e now would put the two in the
// wrong order.
func (a *Attempt) skipped(e *entry) *entry {
	i := slices.IndexFunc(a.journal.entries, func(o *entry) bool {
		return o != e && o.Step == e.Step && o.server == e.server && o.effect && o.State == OK &&
			o.consumedBy != a.number && e.dispatched > o.settled
	})
	if i < 0 {
		return nil
	}
	return a.journal.entries[i]
}

// find returns the open step's first entry with this key that fits.
func (a *Attempt) find(key string, fits func(*entry) bool) *entry {
	for _, e := range a.journal.entries {
		if e.Step == a.journal.step && e.key == key && fits(e) {
			return e
		}
	}
	return nil
}

func hold(c tools.Call, done, before *entry) error {
	return &tools.HoldError{
		Call: describe(c.Tool.Path(), c.Args),
		Message: fmt.Sprintf("%s did exactly this, but after %s %s, which this program has not called; "+
			"call that first, or pass {same: %q} as the second argument to take the recorded result, or {again: %q} to do it again",
			done.ID, before.ID, describe(before.Tool, before.Args), done.ID, done.ID),
	}
}

func describe(tool string, args json.RawMessage) string {
	const enough = 200
	if len(args) > enough {
		return fmt.Sprintf("%s(%s…)", tool, bytes.ToValidUTF8(args[:enough], nil))
	}
	return fmt.Sprintf("%s(%s)", tool, args)
}

// UnknownError ends a run: a program wants to make a call that may have
// happened already, and neither the model nor the journal can know.
type UnknownError struct{ Entry Entry }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("journal: %s %s got no answer and may have taken effect; it is not made again. "+
		"Find out what happened, or declare the tool idempotent", e.Entry.ID, describe(e.Entry.Tool, e.Entry.Args))
}

// stateOf says what the way a call ended tells of its effect.
func stateOf(err error) State {
	var te *tools.ToolError
	if err == nil {
		return OK
	}
	if !errors.As(err, &te) {
		return Unknown // a fatal error says nothing of what was done before
	}
	switch te.Kind {
	case tools.KindUnknownTool, tools.KindInvalidArguments, tools.KindDenied, tools.KindUnavailable:
		return Rejected
	case tools.KindTimeout, tools.KindCancelled, tools.KindUnknown:
		return Unknown
	case tools.KindInvalidResult:
		return OK // done; the record answers with the same complaint
	default:
		return Failed
	}
}

// keyOf says which effect a call is: server, tool and identity arguments, in a
// canonical form.
func keyOf(c tools.Call) (string, error) {
	var args map[string]any
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber() // 2^53+1 and 2^53 are different arguments
	if err := d.Decode(&args); err != nil {
		return "", fmt.Errorf("journal: arguments of %s: %w", c.Tool.Path(), err)
	}
	if id := c.Tool.Hints.Identity; id != nil {
		for name := range args {
			if !slices.Contains(id, name) {
				delete(args, name)
			}
		}
	}
	canonical, err := json.Marshal([]any{c.Tool.Namespace, c.Tool.Name, args})
	if err != nil {
		return "", fmt.Errorf("journal: arguments of %s: %w", c.Tool.Path(), err)
	}
	sum := sha256.Sum256(canonical)
	return string(sum[:]), nil
}
