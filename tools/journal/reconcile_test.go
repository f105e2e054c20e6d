package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// reconciling returns a run with Options.Reconcile.
func reconciling(t *testing.T, f fate, look func(w *world, asked int) (journal.Reconciled, error)) *play {
	t.Helper()
	w, asked := newWorld(map[int]fate{0: f}), 0
	return newPlay(t, w, &journal.Options{
		Reconcile: func(_ context.Context, e journal.Entry) (journal.Reconciled, error) {
			asked++
			if e.ID != "E1" || e.State != journal.StateUnknown || string(e.Args) != `{"to":"ann"}` {
				t.Errorf("asked about %v", e)
			}
			return look(w, asked)
		},
	})
}

func sendAnn(g *guest) { g.call("mail.send", to("ann")) }

const (
	timedOut = `
		attempt
			mail.send({"to":"ann"}) threw tool mail.send: no answer in time; whether it took effect is unknown. Do not
				| call it again; report it
		threw: tool mail.send: no answer in time; whether it took effect is unknown. Do not call it again; report it`
	beingLookedUp = `
		held: mail.send({"to":"ann"}) was held: E1 made exactly this call, and whether it took effect is unknown. The
			| outcome is being looked up; write the whole step again`
	pausedAnn = `
		stopped: journal: whether E1 mail.send({"to":"ann"}) took effect is unknown, so the call was not made again; find
			| out what happened, set Options.Reconcile, or, if repeating it does no harm, set the tool's class to Idempotent
			| or Read`
)

func reconcile(p *play) {
	p.t.Helper()
	p.tell("reconciled: %v", p.journal.Reconcile(context.Background()))
}

func TestReconcileDone(t *testing.T) {
	t.Parallel()
	p := reconciling(t, timeoutAfter, func(w *world, _ int) (journal.Reconciled, error) {
		return journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(fmt.Sprint(len(w.mails)))}, nil
	})
	_ = p.attempt(sendAnn)
	reconcile(p)
	_ = p.attempt(sendAnn)
	reconcile(p)
	p.accept()
	p.check(timedOut + `
		reconciled: <nil>
		attempt
			mail.send({"to":"ann"}) → 1, recorded
		reconciled: <nil>
		accepted`)
	if e := p.journal.Entries()[0]; e.State != journal.StateOK || e.Err != nil || len(p.world.mails) != 1 {
		t.Errorf("the entry is %v, the mails are %v", e, p.world.mails)
	}
}

func TestReconcileNotDone(t *testing.T) {
	t.Parallel()
	p := reconciling(t, timeoutBefore, func(*world, int) (journal.Reconciled, error) {
		return journal.Reconciled{State: journal.StateRejected}, nil
	})
	_ = p.attempt(sendAnn)
	reconcile(p)
	_ = p.attempt(sendAnn)
	p.accept()
	p.check(timedOut + `
		reconciled: <nil>
		attempt
			mail.send({"to":"ann"}) → 1
		accepted`)
	if got := p.states(); got != "E1 rejected, E2 ok" {
		t.Errorf("got %s", got)
	}
}

func TestReconcileUnknown(t *testing.T) {
	t.Parallel()
	p := reconciling(t, timeoutBefore, func(*world, int) (journal.Reconciled, error) {
		return journal.Reconciled{State: journal.StateUnknown}, nil
	})
	_ = p.attempt(sendAnn)
	reconcile(p)
	_ = p.attempt(sendAnn)
	p.check(timedOut + `
		reconciled: <nil>
		attempt` + pausedAnn)
}

// If Reconcile returns an error, it is called again.
func TestReconcileError(t *testing.T) {
	t.Parallel()
	p := reconciling(t, timeoutBefore, func(_ *world, asked int) (journal.Reconciled, error) {
		if asked == 1 {
			return journal.Reconciled{}, errors.New("no connection")
		}
		return journal.Reconciled{State: journal.StateRejected}, nil
	})
	_ = p.attempt(sendAnn)
	reconcile(p)
	_ = p.attempt(sendAnn)
	reconcile(p)
	_ = p.attempt(sendAnn)
	p.check(timedOut + `
		reconciled: journal: reconciling E1 mail.send: no connection
		attempt` + beingLookedUp + `
		reconciled: <nil>
		attempt
			mail.send({"to":"ann"}) → 1`)
}

// A call is held if it repeats an unknown call that has not been reconciled.
func TestReconcileWithinProgram(t *testing.T) {
	t.Parallel()
	p := reconciling(t, timeoutAfter, func(*world, int) (journal.Reconciled, error) {
		return journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(`1`)}, nil
	})
	_ = p.attempt(func(g *guest) { _ = g.caught("mail.send", to("ann")); sendAnn(g) })
	reconcile(p)
	_ = p.attempt(sendAnn)
	unthrown, _, _ := strings.Cut(strings.TrimSpace(timedOut), "\n\t\tthrew")
	p.check(unthrown + beingLookedUp + `
		reconciled: <nil>
		attempt
			mail.send({"to":"ann"}) → 1, recorded`)
}

// An answer that arrives during Reconcile counts.
func TestReconcileLateAnswer(t *testing.T) {
	t.Parallel()
	var s *script
	var flying call
	s = newScript(t, &journal.Options{
		Reconcile: func(context.Context, journal.Entry) (journal.Reconciled, error) {
			flying.entry.Settled(json.RawMessage(`"late"`), nil, false)
			return journal.Reconciled{State: journal.StateRejected}, nil
		},
	})
	s.attempt = s.journal.Attempt()
	flying = s.issue(`db.add({"n":1})`, nil)
	if err := flying.entry.Dispatched(flying.args); err != nil {
		t.Fatal(err)
	}
	flying.entry.Settled(nil, &tools.ToolError{Kind: tools.KindTimeout}, false)
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
			c.entry.Settled(nil, &tools.ToolError{Kind: tools.KindTimeout}, true)
		}
	}
	s.attempt = s.journal.Attempt()
	if err := s.journal.Reconcile(t.Context()); err != nil || asked != 0 || s.states() != "E1 unknown, E2 unknown" {
		t.Errorf("%v, looked up %d times, %s", err, asked, s.states())
	}
}

// Only effects that are not repeatable are reconciled, and only if Options.Reconcile is set.
func TestReconcileEffects(t *testing.T) {
	t.Parallel()
	var asked []string
	ask := func(_ context.Context, e journal.Entry) (journal.Reconciled, error) {
		asked = append(asked, e.Tool)
		return journal.Reconciled{}, nil
	}
	s := newScript(t, &journal.Options{Reconcile: ask})
	s.attempt = s.journal.Attempt()
	for _, text := range []string{`db.count()`, `shop.get_order()`, `log.append()`, `db.put()`, `shop.buy()`} {
		s.finish(s.issue(text, nil), "!timeout")
	}
	s.finish(s.issue(`db.add()`, nil), "!failed")
	for range 2 {
		if err := s.journal.Reconcile(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(asked, ", "); got != "db.put, shop.buy" {
		t.Errorf("asked about %s", got)
	}
	if err := journal.New(nil).Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}
