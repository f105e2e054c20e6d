package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

type refund struct {
	Amount int     `json:"amount"`
	Note   *string `json:"note,omitempty"`
}

// refunds returns a run with a tool refund and an approver. The calls end with the given errors.
// The slice has the refunded amounts.
func refunds(t *testing.T, ask policy.Approver, ends ...error) (*play, *[]int) {
	t.Helper()
	var done []int
	set, err := tools.NewSet(t.Context(), tools.Func("refund", "Pay money back.",
		func(_ context.Context, in refund) (int, error) {
			done = append(done, in.Amount)
			if n := len(done); n <= len(ends) && ends[n-1] != nil {
				return 0, ends[n-1]
			}
			return len(done), nil
		}, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		t.Fatal(err)
	}
	return newPlayOf(t, newWorld(nil), set.With(policy.Approve(ask)), nil), &done
}

// atMost50 approves calls, and reduces larger amounts to 50.
func atMost50(_ context.Context, r policy.Request) (policy.Decision, error) {
	var in refund
	if err := json.Unmarshal(r.Call.Args, &in); err != nil {
		return policy.Decision{}, err
	}
	d := policy.Decision{Approved: true}
	if in.Amount > 50 {
		d.Args = json.RawMessage(`{"amount":50}`)
	}
	return d, nil
}

// A call has two keys, as requested and as performed. The journal answers both.
func TestChangedArguments(t *testing.T) {
	t.Parallel()
	p, done := refunds(t, atMost50)
	for _, amount := range []int{100, 50, 100} {
		_ = p.attempt(func(g *guest) { g.call("refund", fmt.Sprintf(`{"amount":%d}`, amount)) })
	}
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":99}`) })
	p.accept()
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":50}`) })
	p.check(`
		attempt
			refund({"amount":100}) → 1
		attempt
			refund({"amount":50}) → 1, recorded
		attempt
			refund({"amount":100}) → 1, recorded
		attempt
		held: refund({"amount":99}) was held: earlier programs of this step called refund with other
		| arguments: E1 refund({"amount":50}) (done). If this call repeats one that is done, pass
		| {same: "E1"} as the second argument to take its result. If it is another effect, pass
		| {distinct: "all"} as the second argument of every call of refund
		accepted; orphans: E1
		attempt
		held: refund({"amount":50}) was held: E1 made exactly this call in an earlier step, and it is done. To take the
			| result of E1, pass {same: "E1"} as the second argument; to do it once more, pass {again: "E1"}`)
	if e := p.journal.Entries()[0]; string(e.Args) != `{"amount":50}` || len(*done) != 1 {
		t.Errorf("the entry is %v, and %v were refunded", e, *done)
	}
}

// A failed call can be repeated once under either key.
func TestChangedArgumentsFailed(t *testing.T) {
	t.Parallel()
	p, done := refunds(t, atMost50, errors.New("504"))
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":100}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":50}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":50}`, `{"again":"E1"}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":50}`, `{"again":"E1"}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":100}`, `{"again":"E1"}`) })
	p.accept()
	p.check(`
		attempt
			refund({"amount":100}) threw tool refund: 504
		threw: tool refund: 504
		attempt
		held: refund({"amount":50}) was held: E1 made exactly this call and reported an error, so it may
			| have taken effect. First check what took effect, if a tool can show that, and leave that
			| out. Pass {distinct: "E1", again: "E1"} as the second argument of every call of refund, with
			| only those under again that did not take effect
		attempt
			refund({"amount":50}, {"again":"E1"}) → 2
		attempt
			refund({"amount":50}, {"again":"E1"}) → 2, recorded
		attempt
			refund({"amount":100}, {"again":"E1"}) → 2, recorded
		accepted`)
	if len(*done) != 2 {
		t.Errorf("refunded were %v", *done)
	}
}

func TestChangedArgumentsUnknown(t *testing.T) {
	t.Parallel()
	p, done := refunds(t, atMost50, context.DeadlineExceeded)
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":100}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":50}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":100}`) })
	const stopped = `stopped: journal: whether E1 refund({"amount":50}) took effect is unknown, so the call was not made
		| again; find out what happened, set Options.Reconcile, or, if repeating it does no harm, set the tool's class to
		| Idempotent or Read`
	p.check(`
		attempt
			refund({"amount":100}) threw tool refund: no answer in time; whether it took effect is
				| unknown. Do not call it again; report it
		threw: tool refund: no answer in time; whether it took effect is unknown. Do not call it again;
			| report it
		attempt
		` + stopped + `
		attempt
		` + stopped)
	if len(*done) != 1 {
		t.Errorf("refunded were %v", *done)
	}
}

// For a Go function, a null argument and a missing one make the same call.
func TestNullArgument(t *testing.T) {
	t.Parallel()
	p, _ := refunds(t, atMost50)
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":10,"note":null}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":10}`) })
	p.check(`
		attempt
			refund({"amount":10,"note":null}) → 1
		attempt
			refund({"amount":10}) → 1, recorded`)
}

// A refused call does not resolve the entries that it names.
func TestAgainDenied(t *testing.T) {
	t.Parallel()
	asked := 0
	refuseFirstRepeat := func(context.Context, policy.Request) (policy.Decision, error) {
		asked++
		return policy.Decision{Approved: asked != 2, Reason: "ask the customer first"}, nil
	}
	p, done := refunds(t, refuseFirstRepeat, errors.New("504"))
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":10}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":10}`, `{"again":"E1"}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":10}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":20}`) })
	_ = p.attempt(func(g *guest) { g.call("refund", `{"amount":10}`, `{"again":"E1"}`) })
	p.accept()
	p.check(`
		attempt
			refund({"amount":10}) threw tool refund: 504
		threw: tool refund: 504
		attempt
			refund({"amount":10}, {"again":"E1"}) threw tool refund: not approved: ask the customer first
		threw: tool refund: not approved: ask the customer first
		attempt
		held: refund({"amount":10}) was held: E1 made exactly this call and reported an error, so it may
			| have taken effect. First check what took effect, if a tool can show that, and leave that
			| out. Pass {distinct: "E1", again: "E1"} as the second argument of every call of refund, with
			| only those under again that did not take effect
		attempt
		held: refund({"amount":20}) was held: earlier programs of this step called refund with other
		| arguments: E1 refund({"amount":10}) (reported an error; it may have taken effect). First
		| check what took effect, if a tool can show that, and leave that out. If it is another
		| effect, pass {distinct: "E1", again: "E1"} as the second argument of every call of refund,
		| with only those under again that did not take effect
		attempt
			refund({"amount":10}, {"again":"E1"}) → 2
		accepted`)
	if got := p.states(); got != "E1 failed, E2 rejected, E3 ok" || len(*done) != 2 {
		t.Errorf("got %s, and %v were refunded", got, *done)
	}
}

// A call of a program that has ended is neither approved nor made.
func TestEndWhileAsking(t *testing.T) {
	t.Parallel()
	asking, ended := make(chan struct{}), make(chan struct{})
	ask := func(ctx context.Context, _ policy.Request) (policy.Decision, error) {
		close(asking)
		<-ctx.Done()
		close(ended)
		return policy.Decision{Approved: true}, nil
	}
	p, done := refunds(t, ask)
	run := dispatch.New(p.set, p.journal.Attempt())
	first := run.Issue(tools.Call{Args: json.RawMessage(`{"amount":1}`)}, 0)
	second := run.Issue(tools.Call{Args: json.RawMessage(`{"amount":2}`)}, 0)
	results := make(chan error, 1)
	go func() {
		_, err := first.Perform(context.Background())
		results <- err
	}()
	<-asking
	run.End()
	<-ended
	_, err := second.Perform(context.Background())
	got := strings.Join([]string{fmt.Sprint(<-results), fmt.Sprint(err), p.states()}, "\n")
	want := "tool refund: the run ended before the call was approved\n" +
		"tool refund: the program ended before the call was made\nE1 rejected, E2 rejected"
	if got != want || len(*done) > 0 {
		t.Errorf("got\n%s\nrefunded were %v", got, *done)
	}
}
