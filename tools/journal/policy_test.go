package journal_test

import (
	"context"
	"encoding/json"
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
