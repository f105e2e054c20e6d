package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
)

// Rollback is what [Journal.Rollback] has achieved.
type Rollback struct {
	Undone []Entry // effects that are undone, also by earlier calls; the last one first
	Left   []Left  // effects that may still exist; the last one first
}

// errRolledBack ends a program that runs after a rollback: recorded results are no longer true.
var errRolledBack = errors.New("journal: the effects of the run were undone; start a new run")

// Left is an effect that was not undone.
type Left struct {
	Entry  Entry
	Reason string // for example, that the tool has no Revert
}

// Rollback undoes the effects of a run that are done, in the reverse order in which the calls were issued: with
// [tools.Tool].Revert, or with a call of the tool that [tools.Tool].RevertWith names, to which the policies of the set
// apply. The tools are found in the set by their server and name. Each effect is undone once: a reversal is an entry of
// its own, recorded before it is made. Effects that cannot be undone, or are uncertain, and those whose reversal is not
// known to have succeeded, are left, with the reason, and are no error.
//
// If the process ends, an error ends the rollback, or effects are left, Rollback can be called again. It makes a
// reversal again if it was certainly not made, for example because a policy refused it or its server could not be
// reached. A reversal that reported an error may have undone the effect, so it is not repeated, unless
// [tools.Hints].ErrorsAreFinal is set for the tool of RevertWith. A reversal that was interrupted is unknown: find out
// what has happened, and call [Journal.Resolve]. No program of the run may be running. A run that was rolled back
// cannot be repeated. The error is that of ctx or of the log, or a [tools.Fatal] error of a policy or a tool.
func (j *Journal) Rollback(ctx context.Context, set *tools.Set) (Rollback, error) {
	var r Rollback
	a, entries, err := j.startRollback()
	if err != nil {
		return r, err
	}
	defer j.End()
	for _, e := range slices.Backward(entries) {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		reason, err := a.undo(ctx, set, e)
		switch entry := j.entry(e); {
		case err != nil:
			return r, err
		case reason != "":
			r.Left = append(r.Left, Left{entry, reason})
		default:
			r.Undone = append(r.Undone, entry)
		}
	}
	return r, j.sync()
}

// startRollback applies everything that is recorded. It returns the entries that have or may have had an effect.
func (j *Journal) startRollback() (a *Attempt, list []*entry, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.play(len(j.pending))
	a = &Attempt{}
	if err := j.commit(&operation{Op: opRollback, attempt: a}); err != nil {
		return nil, nil, err
	}
	for _, e := range j.entries {
		if e.Reverts == "" && e.Class != tools.Read && e.called && e.counts() {
			list = append(list, e)
		}
	}
	return a, list, nil
}

// undo undoes an effect. It returns the reason if the effect is left.
func (a *Attempt) undo(ctx context.Context, set *tools.Set, e *entry) (reason string, err error) {
	before, last := a.journal.entry(e), a.journal.reversal(e)
	switch {
	case last != nil && last.State == StateOK:
		return "", nil
	case last != nil:
		return fmt.Sprintf("%s was to undo it, and whether it did is unknown", last), nil
	case before.State != StateOK:
		return "whether it took effect is unknown", nil
	}
	all := set.Bindings()
	at := indexOf(all, e.id)
	if at < 0 {
		return "the set does not have the tool", nil
	}
	args := before.Args
	switch b := all[at]; {
	case b.Revert != nil:
		if set, err = ownSet(ctx, b, before.Result); err != nil {
			return err.Error(), nil
		}
		at = 0
	case b.RevertWith != nil:
		if at = indexOf(all, toolID{e.id.server, b.RevertWith.Tool}); at < 0 {
			return fmt.Sprintf("the set does not have the tool %q, which undoes it", b.RevertWith.Tool), nil
		}
		if args, err = inverse(b.RevertWith, before); err != nil {
			return "the arguments of the tool that undoes it: " + err.Error(), nil
		}
	default:
		return "the tool has no Revert", nil
	}
	_, err = dispatch.New(set, reversing{a, e}).Issue(tools.Call{ID: 1, Args: args}, at).Perform(ctx)
	if tools.IsFatal(err) {
		return "", fmt.Errorf("journal: undoing %s: %w", before.ID, err)
	}
	if err != nil {
		return "undoing it failed: " + err.Error(), nil
	}
	return "", nil
}

// reversal returns the last call that was to undo e and was not rejected, or nil.
func (j *Journal) reversal(e *entry) *Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, o := range slices.Backward(j.entries) {
		if o.Reverts == e.ID && o.counts() {
			found := o.Entry
			return &found
		}
	}
	return nil
}

func indexOf(all []*tools.Binding, id toolID) int {
	return slices.IndexFunc(all, func(b *tools.Binding) bool { return id == toolID{b.Namespace, b.Name} })
}

// ownSet returns a set with a tool that calls b.Revert. The policies for programs do not apply to it.
func ownSet(ctx context.Context, b *tools.Binding, result json.RawMessage) (*tools.Set, error) {
	return tools.NewSet(ctx, &tools.Tool{Namespace: b.Namespace, Name: b.Name, Hints: tools.Hints{Class: tools.Effect},
		Handler: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			return nil, b.Revert(ctx, args, result)
		}})
}

func inverse(r *tools.Inverse, e Entry) (args json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return r.Args(e.Args, e.Result)
}

// reversing is an attempt whose calls undo an effect. The rules do not apply to them.
type reversing struct {
	*Attempt
	effect *entry
}

// Issue implements [dispatch.Attempt].
func (r reversing) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	return r.issue(c, all, r.effect)
}
