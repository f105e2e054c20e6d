package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// Arguments changed by an approver get the defaults of the schema.
func TestApproveEdited(t *testing.T) {
	t.Parallel()
	it := tool("it", tools.Hints{}, echo)
	it.InputSchema = json.RawMessage(`{"type":"object","properties":{"dry_run":{"type":"boolean","default":true},` +
		`"n":{"type":"integer"}}}`)
	var shown string
	set := newSet(t, it).With(policy.Approve(func(_ context.Context, r policy.Request) (policy.Decision, error) {
		shown = string(r.Call.Args)
		return policy.Decision{Approved: true, Args: json.RawMessage(`{"n":2}`)}, nil
	}))
	equal(t, "the end", told(call(t.Context(), set, "it", `{"n":1}`)), `{"n":2,"dry_run":true}`)
	equal(t, "what is shown", shown, `{"n":1,"dry_run":true}`)
}

// A tool name with quotes cannot end the quoted server name of a pattern.
func TestApproveOrigin(t *testing.T) {
	t.Parallel()
	var origin string
	set := newSet(t, &tools.Tool{Namespace: "evil", Name: `send" of "mail`, Handler: echo}).With(
		policy.Approve(func(_ context.Context, r policy.Request) (policy.Decision, error) {
			origin = r.Origin
			return policy.Decision{Approved: true}, nil
		}))
	if _, err := dispatch.New(set, nil).Issue(tools.Call{Args: json.RawMessage(`{}`)}, 0).Perform(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "origin", origin, `"send\" of \"mail" of "evil"`)
}

func TestApprove(t *testing.T) {
	t.Parallel()
	broke := errors.New("the screen is broken")
	decide := func(d policy.Decision, err error) policy.Approver {
		return func(context.Context, policy.Request) (policy.Decision, error) { return d, err }
	}
	for _, test := range []struct {
		name string
		ask  policy.Approver
		want string
	}{
		{"approved", decide(policy.Decision{Approved: true}, nil), `{"n":1}`},
		{"edited", decide(policy.Decision{Approved: true, Args: json.RawMessage(`{"n":2}`)}, nil), `{"n":2}`},
		{"edited wrongly", decide(policy.Decision{Approved: true, Args: json.RawMessage(`{"n":"x"}`)}, nil),
			`invalid_arguments: as changed by a policy: n must be an integer, not "x"`},
		{"refused", decide(policy.Decision{Reason: "ask again on Monday"}, nil), "denied: not approved: ask again on Monday"},
		{"refused without a reason", decide(policy.Decision{}, nil), "denied: not approved: do without this call"},
		{"an edit is not an approval", decide(policy.Decision{Args: json.RawMessage(`{"n":2}`)}, nil),
			"denied: not approved: do without this call"},
		{"error", decide(policy.Decision{Approved: true}, broke),
			"denied: not approved: the approver failed; do without this call"},
		{"fatal", decide(policy.Decision{Approved: true}, tools.Fatal(broke)), "fatal: the screen is broken"},
		{"panic", func(context.Context, policy.Request) (policy.Decision, error) { panic("boom") },
			"denied: not approved: the approver failed; do without this call"},
		{"a grant that nothing keeps", decide(policy.Decision{Approved: true, Grant: &policy.Grant{}}, nil),
			"fatal: policy: a decision with a Grant needs an Approver from Grants.Approver"},
		{"nobody", nil, "fatal: policy: nobody can approve the call of it; start a durable run, " +
			"or pass an Approver to Approve"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			called := false
			tool := tool("it", tools.Hints{}, func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
				called = true
				return args, nil
			})
			tool.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
			set := newSet(t, tool).With(policy.Approve(test.ask))
			for range 2 { // the failed request frees its place
				result, err := call(t.Context(), set, "it", `{"n":1}`)
				equal(t, "the end", told(result, err), test.want)
				if called != (err == nil) {
					t.Errorf("called: %v, with the error %v", called, err)
				}
				if test.name == "error" && !errors.Is(err, broke) {
					t.Errorf("the host does not see why: %v", err)
				}
			}
		})
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	var got policy.Request
	look := func(_ context.Context, r policy.Request) (policy.Decision, error) {
		got = r
		return policy.Decision{Approved: true}, nil
	}
	set := newSet(t,
		tool("refund", tools.Hints{Class: tools.Idempotent, Destructive: true}, echo),
		tool("mail.send now\u200b", tools.Hints{}, echo)).With(policy.Approve(look))
	const args = "{\"to\":\"ann\u202e\u007f\",\"of\":[1.0,\"a\\nb\"]}"
	if _, err := call(t.Context(), set, "mail.send_now_", args); err != nil {
		t.Fatal(err)
	}
	const want = `mail.send_now_ (unclassified), which is "send now\u200b" of "mail"
{
  "to": "ann\u202e\u007f",
  "of": [
    1.0,
    "a\nb"
  ]
}
line 3: await it.is(\u202e);`
	equal(t, "request", got.String(), want)
	equal(t, "the arguments themselves", string(got.Call.Args), args)
	if _, err := call(t.Context(), set, "refund", `{}`); err != nil {
		t.Fatal(err)
	}
	got.Line = 0
	equal(t, "request", got.String(), "refund (idempotent, destructive)\n{}")
}

// Any number of requests wait for a decision at the same time.
func TestApproveConcurrently(t *testing.T) {
	t.Parallel()
	const want = 6
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		ask := func(context.Context, policy.Request) (policy.Decision, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return policy.Decision{Approved: true}, nil
		}
		set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Approve(ask))
		var group sync.WaitGroup
		for range 6 {
			group.Go(func() { equal(t, "the end", told(call(t.Context(), set, "it", `{}`)), `{}`) })
		}
		group.Wait()
		if most != want {
			t.Errorf("%d were asked for at once, not %d", most, want)
		}
	})
}

// A run that ends does not wait for a decision. A call that is approved too late is not made.
func TestApproveEnds(t *testing.T) {
	t.Parallel()
	const want = "denied: the run ended before the call was approved"
	asked, decide := make(chan struct{}, 2), make(chan struct{})
	ask := func(context.Context, policy.Request) (policy.Decision, error) {
		asked <- struct{}{}
		<-decide
		return policy.Decision{Approved: true}, nil
	}
	set := newSet(t, tool("it", tools.Hints{}, func(context.Context, json.RawMessage) (json.RawMessage, error) {
		t.Error("called")
		return nil, nil
	})).With(policy.Approve(ask))
	first, endFirst := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { equal(t, "asked", told(call(first, set, "it", `{}`)), want) })
	<-asked
	second, endSecond := context.WithCancel(t.Context())
	queued := make(chan string)
	go func() { queued <- told(call(second, set, "it", `{}`)) }()
	endSecond()
	if got := <-queued; got != want && got != "denied: the program ended before the call was made" {
		t.Errorf("queued: got %s", got)
	}
	endFirst()
	close(decide)
	group.Wait()
	if len(asked) > 0 {
		t.Error("an approver was asked for a run that had ended")
	}
}
