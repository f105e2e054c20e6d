package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

var (
	noon  = time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	later = noon.Add(time.Hour)
)

func requestFor(tool, id, args string, r *tools.Repeat) policy.Request {
	return policy.Request{Tool: tool, ID: id, Call: tools.Call{Args: json.RawMessage(args), Repeat: r}}
}

// A grant covers calls of its tool whose arguments have the granted values, and no other calls.
func TestGrantCovers(t *testing.T) {
	t.Parallel()
	toAnn := map[string]json.RawMessage{"to": json.RawMessage(`"ann"`)}
	for _, test := range []struct {
		name string
		args map[string]json.RawMessage
		call policy.Request
		want bool
	}{
		{"any arguments", nil, requestFor("mail.send", "", `{"to":"eve"}`, nil), true},
		{"another tool", nil, requestFor("mail.send_all", "", `{}`, nil), false},
		{"the value", toAnn, requestFor("mail.send", "", `{"text":"hello","to":"ann"}`, nil), true},
		{"the value in another notation", toAnn, requestFor("mail.send", "", `{"to":"\u0061nn"}`, nil), true},
		{"another value", toAnn, requestFor("mail.send", "", `{"to":"eve"}`, nil), false},
		{"a part of the value", toAnn, requestFor("mail.send", "", `{"to":["ann"]}`, nil), false},
		{"no value", toAnn, requestFor("mail.send", "", `{}`, nil), false},
		{"a name in another case", toAnn, requestFor("mail.send", "", `{"to":"ann","To":"eve"}`, nil), false},
		{"an object", map[string]json.RawMessage{"who": json.RawMessage(`{"id":1.0,"of":[1e1]}`)},
			requestFor("mail.send", "", `{"who":{"of":[10],"id":1}}`, nil), true},
		{"a number that only a float64 confuses", map[string]json.RawMessage{"n": json.RawMessage(`9007199254740993`)},
			requestFor("mail.send", "", `{"n":9007199254740992}`, nil), false},
		{"a part of an argument", map[string]json.RawMessage{"/who/0": json.RawMessage(`"ann"`)},
			requestFor("mail.send", "", `{"who":["ann","ben"]}`, nil), true},
		{"missing", map[string]json.RawMessage{"bcc": json.RawMessage(`null`)},
			requestFor("mail.send", "", `{"to":"eve"}`, nil), true},
		{"null", map[string]json.RawMessage{"bcc": json.RawMessage(`null`)},
			requestFor("mail.send", "", `{"bcc":null}`, nil), true},
		{"not missing", map[string]json.RawMessage{"bcc": json.RawMessage(`null`)},
			requestFor("mail.send", "", `{"bcc":"eve"}`, nil), false},
		{"missing, except in another case", map[string]json.RawMessage{"bcc": json.RawMessage(`null`)},
			requestFor("mail.send", "", `{"Bcc":"eve"}`, nil), false},
		{"a repeated effect", nil, requestFor("mail.send", "", `{}`, &tools.Repeat{Again: []string{"E1"}}), false},
		{"another effect", nil, requestFor("mail.send", "", `{}`, &tools.Repeat{Distinct: []string{"all"}}), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var g policy.Grants
			if err := g.Add(policy.Grant{Tool: "mail.send", Calls: 2, Until: later, By: "ann", Args: test.args}); err != nil {
				t.Fatal(err)
			}
			d, ok := g.Covers(test.call, noon)
			want := policy.Decision{}
			if test.want {
				want = policy.Decision{Approved: true, By: "ann", Granted: true}
			}
			if ok != test.want || fmt.Sprint(d) != fmt.Sprint(want) {
				t.Errorf("got %+v, %t", d, ok)
			}
		})
	}
}

// covers returns which of the calls are covered.
func covers(g *policy.Grants, now time.Time, ids ...string) string {
	var got []string
	for _, id := range ids {
		if d, ok := g.Covers(requestFor("it", id, `{}`, nil), now); ok {
			got = append(got, id+" "+d.By)
		}
	}
	return strings.Join(got, ", ")
}

// A grant covers a number of calls until it expires. The requests of one call count once. The same additions and calls
// have the same results.
func TestGrantsEnd(t *testing.T) {
	t.Parallel()
	for range 2 {
		var g policy.Grants
		equal(t, "without a grant", covers(&g, noon, "r:E1"), "")
		for _, n := range []policy.Grant{{Tool: "it", Calls: 2, Until: later, By: "ann"},
			{Tool: "it", Calls: 2, Until: later.Add(time.Hour), By: "ben"}} {
			if err := g.Add(n); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, "calls", covers(&g, noon, "r:E1", "r:E1", "", "r:E2", "r:E1"), "r:E1 ann, r:E1 ann,  ann, r:E2 ben, r:E1 ann")
		equal(t, "just before the end of ann's", covers(&g, later.Add(-1), "r:E1", "r:E2"), "r:E1 ann, r:E2 ben")
		equal(t, "at the end of ann's", covers(&g, later, "r:E2", "r:E1", "r:E3", ""), "r:E2 ben, r:E1 ben")
		equal(t, "at the end of ben's", covers(&g, later.Add(time.Hour), "r:E2"), "")
	}
}

func TestInvalidGrants(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		grant policy.Grant
		want  string
	}{
		{policy.Grant{Calls: 1, Until: noon}, `policy: a Grant needs a Tool, a positive number of Calls and a time Until; ` +
			`got "", 1 and 2031-05-01 12:00:00 +0000 UTC`},
		{policy.Grant{Tool: "it", Until: noon}, `policy: a Grant needs a Tool, a positive number of Calls and a time ` +
			`Until; got "it", 0 and 2031-05-01 12:00:00 +0000 UTC`},
		{policy.Grant{Tool: "it", Calls: 1}, `policy: a Grant needs a Tool, a positive number of Calls and a time Until; ` +
			`got "it", 1 and 0001-01-01 00:00:00 +0000 UTC`},
		{policy.Grant{Tool: "it", Calls: 1, Until: noon, Args: map[string]json.RawMessage{"to": json.RawMessage("ann")}},
			`policy: the Grant for it: the value of to is not JSON: ann`},
	} {
		var g policy.Grants
		if err := g.Add(test.grant); err == nil || err.Error() != test.want {
			t.Errorf("got %v\nwant %s", err, test.want)
		}
		equal(t, "covered", covers(&g, time.Time{}, "r:E1"), "")
	}
}

// A grant that was added does not change.
func TestGrantIsCopied(t *testing.T) {
	t.Parallel()
	var g policy.Grants
	n := policy.Grant{Tool: "it", Calls: 1, Until: later, Args: map[string]json.RawMessage{"n": json.RawMessage(`1`)}}
	if err := g.Add(n); err != nil {
		t.Fatal(err)
	}
	delete(n.Args, "n")
	equal(t, "covered", covers(&g, noon, "r:E1"), "")
}

func TestGrantsCountConcurrently(t *testing.T) {
	t.Parallel()
	var g policy.Grants
	if err := g.Add(policy.Grant{Tool: "it", Calls: 7, Until: later}); err != nil {
		t.Fatal(err)
	}
	var covered atomic.Int32
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			id := fmt.Sprintf("r:E%d", i)
			if i%2 == 0 {
				id = ""
			}
			if _, ok := g.Covers(requestFor("it", id, `{}`, nil), noon); ok {
				covered.Add(1)
			}
		})
	}
	group.Wait()
	if covered.Load() != 7 {
		t.Errorf("%d calls were covered", covered.Load())
	}
}

// A person is asked once about many concurrent calls, and again if the grant is used up or has expired.
func TestGrantsApprover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g policy.Grants
		var asked atomic.Int32
		set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Approve(g.Approver(
			func(context.Context, policy.Request) (policy.Decision, error) {
				asked.Add(1)
				time.Sleep(time.Second)
				return policy.Decision{Approved: true, By: "ann",
					Grant: &policy.Grant{Tool: "it", Calls: 39, Until: time.Now().Add(time.Hour)}}, nil
			})))
		many := func(what string, calls int, want int32) {
			t.Helper()
			var group sync.WaitGroup
			for range calls {
				group.Go(func() { equal(t, what, told(call(t.Context(), set, "it", `{}`)), `{}`) })
			}
			group.Wait()
			if got := asked.Load(); got != want {
				t.Errorf("%s: asked %d times, not %d", what, got, want)
			}
		}
		many("first", 40, 1)
		many("used up", 2, 2)
		time.Sleep(time.Hour)
		many("expired", 1, 3)
	})
}

// A call that a grant covers does not wait for a decision about another call of the tool. A call that waits for another
// call's decision ends with its context.
func TestGrantsApproverWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g policy.Grants
		if err := g.Add(policy.Grant{Tool: "it", Calls: 1, Until: time.Now().Add(time.Hour),
			Args: map[string]json.RawMessage{"n": json.RawMessage(`1`)}}); err != nil {
			t.Fatal(err)
		}
		decide := make(chan struct{})
		set := newSet(t, tool("it", tools.Hints{}, echo), tool("other", tools.Hints{}, echo)).With(policy.Approve(g.Approver(
			func(_ context.Context, r policy.Request) (policy.Decision, error) {
				if r.Tool == "it" {
					<-decide
				}
				return policy.Decision{Approved: true}, nil
			})))
		var group sync.WaitGroup
		group.Go(func() { equal(t, "asked", told(call(t.Context(), set, "it", `{"n":2}`)), `{"n":2}`) })
		synctest.Wait()
		equal(t, "covered", told(call(t.Context(), set, "it", `{"n":1}`)), `{"n":1}`)
		equal(t, "another tool", told(call(t.Context(), set, "other", `{}`)), `{}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		equal(t, "waiting", told(call(ctx, set, "it", `{"n":3}`)), "denied: the run ended before the call was approved")
		close(decide)
		group.Wait()
	})
}

// Only an approval adds its grant, and only a valid one. An error adds none.
func TestGrantsApproverAdds(t *testing.T) {
	t.Parallel()
	grant := &policy.Grant{Tool: "it", Calls: 1, Until: later, By: "ben"}
	broke := errors.New("the screen is broken")
	for _, test := range []struct {
		name     string
		decision policy.Decision
		err      error
		want     string
		covered  string
	}{
		{"approved", policy.Decision{Approved: true, Grant: grant, By: "ann"}, nil, `{}`, "r:E1 ben"},
		{"approved by", policy.Decision{Approved: true, Grant: &policy.Grant{Tool: "it", Calls: 1, Until: later}, By: "ann"},
			nil, `{}`, "r:E1 ann"},
		{"refused", policy.Decision{Grant: grant}, nil, "denied: not approved: do without this call", ""},
		{"error", policy.Decision{Approved: true, Grant: grant}, broke,
			"denied: not approved: the approver failed; do without this call", ""},
		{"invalid", policy.Decision{Approved: true, Grant: &policy.Grant{Tool: "it"}}, nil,
			"denied: not approved: the approver failed; do without this call", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var g policy.Grants
			set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Approve(g.Approver(
				func(context.Context, policy.Request) (policy.Decision, error) { return test.decision, test.err })))
			_, err := call(t.Context(), set, "it", `{}`)
			if got := told(json.RawMessage(`{}`), err); got != test.want {
				t.Errorf("got %s", got)
			}
			if test.name == "invalid" && !strings.Contains(fmt.Sprint(errors.Unwrap(err)), "a Grant needs") {
				t.Errorf("the host does not see why: %v", errors.Unwrap(err))
			}
			equal(t, "covered", covers(&g, noon, "r:E1"), test.covered)
		})
	}
}

// A grant is about the arguments that a person would see. A policy may change them afterwards.
func TestGrantOfChangedArguments(t *testing.T) {
	t.Parallel()
	var g policy.Grants
	if err := g.Add(policy.Grant{Tool: "it", Calls: 1, Until: time.Now().Add(time.Hour),
		Args: map[string]json.RawMessage{"n": json.RawMessage(`1`)}}); err != nil {
		t.Fatal(err)
	}
	change := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			c.Args = json.RawMessage(`{"n":2}`)
			return next.Call(ctx, c)
		})
	}
	set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Approve(g.Approver(
		func(context.Context, policy.Request) (policy.Decision, error) { return policy.Decision{}, nil })), change)
	equal(t, "changed", told(call(t.Context(), set, "it", `{"n":1}`)), `{"n":2}`)
}

// With a Retry outside of Approve, a recorded call counts once.
func TestGrantAndRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g policy.Grants
		if err := g.Add(policy.Grant{Tool: "it", Calls: 1, Until: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		tries := 0
		set := newSet(t, tool("it", tools.Hints{}, func(context.Context, json.RawMessage) (json.RawMessage, error) {
			if tries++; tries < 3 {
				return nil, &tools.ToolError{Kind: tools.KindUnavailable}
			}
			return json.RawMessage(`"done"`), nil
		})).With(policy.Retry(nil), policy.Approve(g.Approver(
			func(context.Context, policy.Request) (policy.Decision, error) { return policy.Decision{}, nil })))
		equal(t, "the end", told(recordedCall(t.Context(), set, journal.New(nil).Attempt(), `{}`, nil)), `"done"`)
	})
}

// A decision can be stored as JSON.
func TestDecisionAsJSON(t *testing.T) {
	t.Parallel()
	for _, want := range []policy.Decision{
		{Approved: true},
		{Reason: "no", By: "ann"},
		{Approved: true, Granted: true, Args: json.RawMessage(`{"n":1}`), Grant: &policy.Grant{Tool: "it", Calls: 2,
			Until: noon, By: "ben", Args: map[string]json.RawMessage{"n": json.RawMessage(`1`)}}},
	} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got policy.Decision
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if (got.Args == nil) != (want.Args == nil) {
			t.Errorf("%s: arguments %q", text, got.Args)
		}
		again, _ := json.Marshal(got)
		equal(t, "JSON", string(again), string(text))
	}
}

// A clock that goes backwards does not revive a grant that has expired, or give it more calls.
func TestGrantsAndClock(t *testing.T) {
	t.Parallel()
	var g policy.Grants
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	if err := g.Add(policy.Grant{Tool: "it", Calls: 2, Until: noon}); err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct {
		id   string
		at   time.Time
		want bool
	}{
		{"r:E1", noon.Add(-time.Minute), true}, {"r:E2", noon.Add(-time.Hour), true}, {"r:E1", noon.Add(-time.Hour), true},
		{"r:E3", noon.Add(-time.Hour), false}, {"r:E1", noon, false}, {"r:E1", noon.Add(-time.Hour), false},
	} {
		if _, ok := g.Covers(policy.Request{ID: test.id, Tool: "it"}, test.at); ok != test.want {
			t.Errorf("call %d: covered: %v", i, ok)
		}
	}
}
