package journal_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// An answer that arrives during Reconcile counts.
func TestReconcileLateAnswer(t *testing.T) {
	t.Parallel()
	var s *script
	var flying call
	s = newScript(t, &journal.Options{
		Reconcile: func(context.Context, journal.Entry) (journal.Reconciled, error) {
			flying.entry.Settled(json.RawMessage(`"late"`), nil, "", false)
			return journal.Reconciled{State: journal.StateRejected}, nil
		},
	})
	s.attempt = s.journal.Attempt()
	flying = s.issue(`db.add({"n":1})`, nil)
	if err := flying.entry.Dispatched(flying.args); err != nil {
		t.Fatal(err)
	}
	flying.entry.Settled(nil, &tools.ToolError{Kind: tools.KindTimeout}, "", false)
	s.attempt = s.journal.Attempt()
	if err := s.journal.Reconcile(t.Context()); err != nil || s.states() != "E1 ok" {
		t.Errorf("%v, %s", err, s.states())
	}
}

// Reconcile is not called while the tool is still working: the effect may still happen.
func TestReconcileWhileToolWorks(t *testing.T) {
	t.Parallel()
	asked := 0
	s := newScript(t, &journal.Options{Reconcile: func(context.Context, journal.Entry) (journal.Reconciled, error) {
		asked++
		return journal.Reconciled{State: journal.StateRejected}, nil
	}})
	s.attempt = s.journal.Attempt()
	for range 2 { // one abandoned by the program, and one by a policy
		c := s.issue(`db.add({"n":1})`, nil)
		if err := c.entry.Dispatched(c.args); err != nil {
			t.Fatal(err)
		}
		if s.states() != "E1 dispatched" {
			c.entry.Settled(nil, &tools.ToolError{Kind: tools.KindTimeout}, "", true)
		}
	}
	s.attempt = s.journal.Attempt()
	if err := s.journal.Reconcile(t.Context()); err != nil || asked != 0 || s.states() != "E1 unknown, E2 unknown" {
		t.Errorf("%v, looked up %d times, %s", err, asked, s.states())
	}
}

// Reconcile is not called for a call that was in progress when another process took over the run: if that process was
// only paused, the effect may still happen.
func TestReconcileAfterTakeover(t *testing.T) {
	t.Parallel()
	for _, tried := range []bool{false, true} { // a policy gave up one try, which was in progress
		log := &memory{}
		s := opened(t, log)
		s.begin("one")
		c := s.issue(`db.add({"n":1})`, nil)
		if err := c.entry.Dispatched(c.args); err != nil {
			t.Fatal(err)
		}
		if tried {
			c.entry.Settled(nil, &tools.ToolError{Kind: tools.KindTimeout}, "", true)
		}
		asked := 0
		s = newScript(t, nil)
		var err error
		s.journal, err = journal.Open(log.cut(len(log.records)), &journal.Options{
			Reconcile: func(context.Context, journal.Entry) (journal.Reconciled, error) {
				asked++
				return journal.Reconciled{State: journal.StateRejected}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.begin("two") // so that the first program is over
		if err := s.journal.Reconcile(t.Context()); err != nil || asked != 0 || s.states() != "E1 unknown" {
			t.Errorf("%v, looked up %d times, %s", err, asked, s.states())
		}
		if got := s.do(`db.add({"n":1})`, ""); !strings.HasPrefix(got, "stopped: journal: whether E1") {
			t.Errorf("the call is %s", got)
		}
	}
}
