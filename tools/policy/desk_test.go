package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// desk is a Desk that has at most one decision.
type desk struct {
	decision *policy.Decision

	mu    sync.Mutex
	asked []policy.Request
}

func (d *desk) Decide(_ context.Context, r policy.Request) (policy.Decision, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r)
	if d.decision == nil {
		return policy.Decision{}, false
	}
	return *d.decision, true
}

// recordedCall calls the first tool of a set as the next call of a journal's attempt.
func recordedCall(ctx context.Context, set *tools.Set, a *journal.Attempt, args string, r *tools.Repeat) (
	json.RawMessage, error) {
	return dispatch.New(set, a).Issue(tools.Call{ID: 1, Args: json.RawMessage(args), Repeat: r}, 0).Perform(ctx)
}

func TestDesk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		decision policy.Decision
		want     string
	}{
		{"approved", policy.Decision{Approved: true}, `{"n":1}`},
		{"edited", policy.Decision{Approved: true, Args: json.RawMessage(`{"n":2}`)}, `{"n":2}`},
		{"with a grant", policy.Decision{Approved: true, Grant: &policy.Grant{}}, `{"n":1}`},
		{"refused", policy.Decision{Reason: "ask again on Monday"}, "denied: not approved: ask again on Monday"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{decision: &test.decision}
			set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Approve(nil))
			equal(t, "the end", told(call(policy.WithDesk(t.Context(), d), set, "it", `{"n":1}`)), test.want)
			if len(d.asked) != 1 || d.asked[0].ID != "" || d.asked[0].Tool != "it" || string(d.asked[0].Call.Args) != `{"n":1}` {
				t.Errorf("asked: %+v", d.asked)
			}
		})
	}
}

// deskFunc is a Desk.
type deskFunc func() (policy.Decision, bool)

func (f deskFunc) Decide(context.Context, policy.Request) (policy.Decision, bool) { return f() }

// A Desk that panics refuses the call. Without a Desk, the run ends.
func TestBrokenDesk(t *testing.T) {
	t.Parallel()
	set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Approve(nil))
	panics := policy.WithDesk(t.Context(), deskFunc(func() (policy.Decision, bool) { panic("boom") }))
	equal(t, "panic", told(call(panics, set, "it", `{}`)),
		"denied: not approved: the approver failed; do without this call")
	none := policy.WithDesk(panics, nil)
	if got := told(call(none, set, "it", `{}`)); !strings.HasPrefix(got, "fatal: policy: nobody can approve") {
		t.Errorf("without a desk: %s", got)
	}
}

// A request has the ID of the call's effect, which differs between calls.
func TestRequestID(t *testing.T) {
	t.Parallel()
	d := &desk{decision: &policy.Decision{Approved: true}}
	ids := []string{}
	set := newSet(t, tool("it", tools.Hints{}, func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		ids = append(ids, tools.EffectID(ctx))
		return nil, nil
	})).With(policy.Approve(nil))
	a := journal.New(nil).Attempt()
	for _, args := range []string{`{"n":1}`, `{"n":2}`} {
		if _, err := recordedCall(policy.WithDesk(t.Context(), d), set, a, args, nil); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "IDs", d.asked[0].ID+" "+d.asked[1].ID, ids[0]+" "+ids[1])
	if !strings.HasSuffix(ids[0], ":E1") || !strings.HasSuffix(ids[1], ":E2") {
		t.Errorf("IDs: %q", ids)
	}
}

// parking is a place whose work may park. It cancels the work once it waits.
type parking struct {
	waits  func()
	events string
}

func (p *parking) Leave()  { p.wait(" leave") }
func (p *parking) Return() { p.events += " return" }
func (p *parking) Park()   { p.wait(" park") }
func (p *parking) Unpark() { p.events += " unpark" }

func (p *parking) wait(event string) {
	p.events += event
	p.waits()
}

// A call without a decision parks, or pauses if it cannot park, until the run ends. If the run is paused, the call is
// not refused.
func TestUndecided(t *testing.T) {
	t.Parallel()
	const ended = "denied: the run ended before the call was approved"
	paused := "fatal: " + place.ErrPaused.Error()
	waiting := func(ctx context.Context, _ policy.Request) (policy.Decision, error) {
		<-ctx.Done()
		return policy.Decision{}, ctx.Err()
	}
	for _, test := range []struct {
		name  string
		ask   policy.Approver
		in    func(*parking) place.Place
		cause error
		want  string
	}{
		{"parked", nil, func(p *parking) place.Place { return p }, place.ErrPaused, paused + " park unpark"},
		{"ended", nil, func(p *parking) place.Place { return p }, errors.New("over"), ended + " park unpark"},
		{"cannot park", nil, func(p *parking) place.Place { return struct{ place.Place }{p} }, errors.New("over"),
			ended + " leave return"},
		{"callback", waiting, func(p *parking) place.Place { return p }, place.ErrPaused, paused + " leave return"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p := &parking{waits: func() { cancel(test.cause) }}
			d := &desk{}
			set := newSet(t, tool("it", tools.Hints{}, func(context.Context, json.RawMessage) (json.RawMessage, error) {
				t.Error("called")
				return nil, nil
			})).With(policy.Approve(test.ask))
			_, err := call(place.With(policy.WithDesk(ctx, d), test.in(p)), set, "it", `{}`)
			equal(t, "the end", told(nil, err)+p.events, test.want)
			if errors.Is(err, place.ErrPaused) != errors.Is(test.cause, place.ErrPaused) {
				t.Errorf("paused? %v", err)
			}
			if test.ask == nil && len(d.asked) != 1 {
				t.Errorf("asked %d times", len(d.asked))
			}
		})
	}
}

// Outside of a sandbox, a call without a decision waits until its context is done.
func TestUndecidedOutsideASandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Approve(nil))
		equal(t, "the end", told(call(policy.WithDesk(ctx, &desk{}), set, "it", `{}`)),
			"denied: the run ended before the call was approved")
	})
}
