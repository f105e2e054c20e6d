package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// office is a server whose effects can be undone.
type office struct {
	t     *testing.T
	did   []string
	log   *memory
	fails map[string]error // of the tools, by what they do
	deny  string           // what the policy refuses
	final bool             // errors of delete mean that nothing was done
}

func (o *office) do(text string) (json.RawMessage, error) {
	o.did = append(o.did, text)
	return json.Marshal("did " + text)
}

func (o *office) set(without ...string) *tools.Set {
	o.t.Helper()
	handler := func(name string) tools.Handler {
		return func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
			text := name + string(args)
			if err := o.fails[text]; err != nil {
				return nil, err
			}
			return o.do(text)
		}
	}
	add := &tools.Tool{Name: "add", Handler: handler("add"),
		Revert: func(_ context.Context, args, result json.RawMessage) error {
			text := fmt.Sprintf("undo %s %s", args, result)
			if o.log != nil && o.log.synced < len(o.log.records) {
				o.t.Errorf("%s is not durable", text)
			}
			_, _ = o.do(text)
			return o.fails[text]
		}}
	create := &tools.Tool{Name: "create", Handler: handler("create"), RevertWith: &tools.Inverse{Tool: "delete",
		Args: func(args, result json.RawMessage) (json.RawMessage, error) {
			switch string(args) {
			case `{"n":8}`:
				return nil, errors.New("no ID")
			case `{"n":9}`:
				panic("no ID")
			}
			return json.RawMessage(fmt.Sprintf(`{"created":%s}`, result)), nil
		}}}
	var sources []tools.Source
	final := tools.Hints{ErrorsAreFinal: o.final}
	for _, tool := range []*tools.Tool{add, create, {Name: "delete", Handler: handler("delete"), Hints: final},
		{Name: "mail", Handler: handler("mail")}, {Name: "get", Handler: handler("get")}} {
		tool.Namespace = "office"
		if !strings.Contains(fmt.Sprint(without), tool.Name) {
			sources = append(sources, tool)
		}
	}
	set, err := tools.NewSet(o.t.Context(), sources...)
	if err != nil {
		o.t.Fatal(err)
	}
	return set.With(func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			switch text := c.Tool.Name + string(c.Args); {
			case o.deny == "pause" && c.Tool.Name == "delete":
				return nil, tools.Fatal(place.ErrPaused)
			case o.deny != "" && strings.HasPrefix(text, o.deny):
				return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "not allowed"}
			}
			return next.Call(ctx, c)
		})
	})
}

// perform runs a program that makes calls.
func (o *office) perform(j *journal.Journal, set *tools.Set, calls ...string) {
	o.t.Helper()
	d := dispatch.New(set, j.Attempt())
	for _, text := range calls {
		name, args, _ := strings.Cut(text, " ")
		for i, b := range set.Bindings() {
			if b.Name == name {
				_, _ = d.Issue(tools.Call{Args: json.RawMessage(args)}, i).Perform(o.t.Context())
			}
		}
	}
	j.End()
}

func (o *office) rollback(j *journal.Journal, set *tools.Set) string {
	o.t.Helper()
	r, err := j.Rollback(o.t.Context(), set)
	if err != nil {
		return err.Error()
	}
	lines := []string{"undone: " + ids(r.Undone)}
	for _, l := range r.Left {
		lines = append(lines, l.Entry.ID+": "+l.Reason)
	}
	return strings.Join(lines, "\n")
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got, want := trimmed(got), trimmed(unfold(want)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Effects that are done are undone in the reverse order, once. The others are left, with the reason.
func TestRollback(t *testing.T) {
	t.Parallel()
	for _, logged := range []bool{false, true} {
		o := &office{t: t, fails: map[string]error{
			`add{"n":3}`: errors.New("504"), `add{"n":4}`: context.DeadlineExceeded,
			`add{"n":5}`:                              &tools.ToolError{Kind: tools.KindUnavailable, Message: "no connection"},
			`undo {"n":6} "did add{\"n\":6}"`:         errors.New("504"),
			`delete{"created":"did create{\"n\":7}"}`: errors.New("gone"),
		}}
		j := journal.New(nil)
		if logged {
			o.log = &memory{}
			var err error
			if j, err = journal.Open(o.log, nil); err != nil {
				t.Fatal(err)
			}
		}
		set := o.set()
		o.perform(j, set, `add {"n":1}`, `create {"n":2}`, `add {"n":3}`, `add {"n":4}`, `add {"n":5}`, `add {"n":6}`)
		j.Accept()
		o.perform(j, set, `create {"n":7}`, `mail {"n":1}`, `get {"n":1}`, `create {"n":8}`, `create {"n":9}`)
		done := len(o.did)
		left := `
			E11: the arguments of the tool that undoes it: panic: no ID
			E10: the arguments of the tool that undoes it: no ID
			E8: the tool has no Revert
			E7: %s
			E6: %s
			E4: whether it took effect is unknown
			E3: whether it took effect is unknown`
		equal(t, o.rollback(j, set), "undone: E2, E1"+fmt.Sprintf(left, "undoing it failed: tool office.delete: gone",
			"undoing it failed: tool office.add: 504"))
		equal(t, strings.Join(o.did[done:], "\n"), `
			undo {"n":6} "did add{\"n\":6}"
			delete{"created":"did create{\"n\":2}"}
			undo {"n":1} "did add{\"n\":1}"`)
		done = len(o.did)
		again := fmt.Sprintf(left,
			`E12 office.delete({"created":"did create{\"n\":7}"}) failed: tool office.delete: gone was to undo it, and whether `+
				`it did is unknown`, `E13 office.add({"n":6}) failed: tool office.add: 504 was to undo it, and whether it did is unknown`)
		if got := o.rollback(j, set); len(o.did) > done {
			t.Errorf("effects are undone again: %s: %s", got, o.did[done:])
		} else {
			equal(t, got, "undone: E2, E1"+again)
		}
		if e := j.Entries()[13]; e.Reverts != "E2" || e.Tool != "office.delete" || e.State != journal.StateOK {
			t.Errorf("the reversal is recorded as %v", e)
		}
		if _, err := j.Attempt().Issue(tools.Call{Tool: set.Bindings()[0], Args: json.RawMessage(`{}`)}, nil); !tools.IsFatal(err) {
			t.Errorf("a program runs after a rollback: %v", err)
		}
	}
}

// What a policy refuses, the set does not have, or was certainly not done, can be undone later.
func TestRollbackLater(t *testing.T) {
	t.Parallel()
	o := &office{t: t}
	j, set := journal.New(nil), o.set()
	o.perform(j, set, `add {"n":1}`, `create {"n":2}`)
	equal(t, o.rollback(j, o.set("add", "delete")), "undone:\nE2: the set does not have the tool \"delete\", which undoes it\n"+
		"E1: the set does not have the tool")
	o.deny = "delete"
	equal(t, o.rollback(j, o.set("add")), "undone:\nE2: undoing it failed: tool office.delete: not allowed\n"+
		"E1: the set does not have the tool")
	o.deny = "pause"
	equal(t, o.rollback(j, set), "journal: undoing E2: "+place.ErrPaused.Error())
	o.deny = "add" // for programs, not for Revert
	const undo = `undo {"n":1} "did add{\"n\":1}"`
	o.fails = map[string]error{undo: &tools.ToolError{Kind: tools.KindUnavailable, Message: "no connection"},
		`delete{"created":"did create{\"n\":2}"}`: errors.New("locked")}
	o.final = true
	equal(t, o.rollback(j, o.set()), "undone:\nE2: undoing it failed: tool office.delete: locked\n"+
		"E1: undoing it failed: tool office.add: no connection")
	o.fails = nil
	equal(t, o.rollback(j, set), "undone: E2, E1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := j.Rollback(ctx, set); !errors.Is(err, context.Canceled) || len(r.Undone) > 0 {
		t.Errorf("got %v, %v", r, err)
	}
}

// A rollback works with the log of a run whose process has ended. If the process of the rollback ends, too, the rollback
// is continued. A reversal that was interrupted is not repeated until it is resolved.
func TestRollbackOfLog(t *testing.T) {
	t.Parallel()
	first := &office{t: t, log: &memory{}}
	j, err := journal.Open(first.log, nil)
	if err != nil {
		t.Fatal(err)
	}
	first.perform(j, first.set(), `add {"n":1}`, `create {"n":2}`, `add {"n":3}`)
	run := len(first.log.records)
	if got := first.rollback(j, first.set()); got != "undone: E3, E2, E1" {
		t.Fatal(got)
	}
	interrupted := 0
	for n := run - 1; n <= len(first.log.records); n++ {
		o := &office{t: t, log: first.log.cut(n)}
		if j, err = journal.Open(o.log, nil); err != nil {
			t.Fatal(err)
		}
		entries := j.Entries()
		if got := o.rollback(j, o.set()); got != "undone: E3, E2, E1" {
			interrupted++
			_, reason, _ := strings.Cut(strings.Split(got, "\n")[1], ": ")
			unknown, _, _ := strings.Cut(reason, " ")
			if err := j.Resolve(unknown, journal.Reconciled{State: journal.StateRejected}); err != nil {
				t.Fatal(n, got, err)
			}
			if got := o.rollback(j, o.set()); got != "undone: E3, E2, E1" {
				t.Errorf("after %d records: %s", n, got)
			}
		}
		for i, text := range o.did {
			if strings.Contains(strings.Join(o.did[i+1:], "\n"), text) {
				t.Errorf("after %d records, with %s: %s is undone again", n, entries, text)
			}
		}
	}
	if interrupted != 3 {
		t.Errorf("%d reversals were interrupted", interrupted)
	}
	if j, err = journal.Open(first.log, nil); err == nil {
		j.Attempt()
		err = j.Sync(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "the effects of the run were undone") {
		t.Errorf("the run is repeated: %v", err)
	}
}
