package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/sdk/activity"
)

// An answer that was accepted counts, although the run goes on with another answer at that moment.
func TestAnswerWhileRunGoesOn(t *testing.T) {
	t.Parallel()
	s := &shop{}
	a, _ := newAgent(t, s.set(t), Options{},
		`submit({answer: String((await Promise.all([pay({of: "a"}), pay({of: "b"})])).length)})`)
	env := environment(t, a)
	second, resumed := &updated{}, atomic.Bool{}
	var list []agent.Waiting
	env.RegisterActivityWithOptions(func(ctx context.Context, in advance) (progress, error) {
		if len(in.Answers) == 1 && !resumed.Swap(true) {
			env.RegisterDelayedCallback(func() {
				env.UpdateWorkflow(decideName, "u-2", second, Answer{Call: list[1].ID, Decision: approved()})
			}, 0)
			time.Sleep(200 * time.Millisecond) // the update comes during this activity
		}
		return a.advance(ctx, in)
	}, activity.RegisterOptions{Name: "bot" + activityAdvance, DisableAlreadyRegisteredCheck: true})
	env.RegisterDelayedCallback(func() {
		list = waiting(t, a, env)
		if len(list) != 2 {
			t.Fatalf("%v wait", list)
		}
		env.UpdateWorkflow(decideName, "u-1", &updated{}, Answer{Call: list[0].ID, Decision: approved()})
	}, time.Hour)
	env.SetWorkflowRunTimeout(24 * time.Hour)
	got := answer(t, a, env)
	if second.rejected != nil || !strings.Contains(got, "2") || s.String() != "pay:a pay:b" {
		t.Errorf("got %s, %v; the tools did %s", got, second.rejected, s)
	}
}

// An answer to an earlier question about a call does not answer a later one.
func TestAnswerOfEarlierRound(t *testing.T) {
	t.Parallel()
	a, _ := newAgent(t, (&shop{}).set(t), Options{})
	in := advance{Answers: []Answer{{Call: "c", Decision: approved()}}}
	for round, want := range []int{1, 0} {
		got, err := a.decisions(t.Context(), in, []agent.Waiting{{ID: "c", Round: round}})
		if len(got) != want || err != nil {
			t.Errorf("in round %d, the decisions are %v, %v", round, got, err)
		}
	}
}

// Many calls that wait fit into the history, and so do their lines.
func TestManyWait(t *testing.T) {
	t.Parallel()
	a, _ := newAgent(t, (&shop{}).set(t), Options{})
	list := make([]agent.Waiting, 1000)
	for i := range list {
		list[i] = agent.Waiting{ID: fmt.Sprint("r-1/1c9b2f04d7aa:E", i), Tool: "pay", Source: strings.Repeat("x", 1000),
			Args: json.RawMessage(`"` + strings.Repeat("y", 2000) + fmt.Sprint(i) + `"`)}
	}
	p, err := a.pause(t.Context(), list)
	text, bad := json.Marshal(p)
	if err = errors.Join(err, bad); err != nil || len(text) > 1<<20 {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
	var w agent.Waiting
	whole, err := load(t.Context(), a.options.Objects, p.Waiting[7].Whole)
	if err = errors.Join(err, json.Unmarshal(whole, &w)); err != nil || w.Source != list[7].Source {
		t.Errorf("got %v, %v", w, err)
	}
}

// Large arguments of a decision do not reach the history.
func TestLargeDecision(t *testing.T) {
	t.Parallel()
	s := &shop{}
	a, _ := newAgent(t, s.set(t), Options{}, `submit({answer: String(await pay({of: "a"}))})`)
	env := environment(t, a)
	large, small := &updated{}, &updated{}
	env.RegisterDelayedCallback(func() {
		list := waiting(t, a, env)
		if len(list) != 1 {
			t.Fatalf("%v wait", list)
		}
		d := approved()
		d.Args = json.RawMessage(`{"of":"` + strings.Repeat("x", 3e6) + `"}`)
		long := Answer{Call: list[0].ID, Decision: d}
		env.UpdateWorkflow(decideName, "u-1", large, long)
		short, err := a.short(t.Context(), long)
		if text, bad := json.Marshal(short); err != nil || bad != nil || len(text) > 1000 {
			t.Errorf("the answer has %d bytes, %v, %v", len(text), err, bad)
		}
		env.UpdateWorkflow(decideName, "u-2", small, short)
	}, time.Hour)
	answer(t, a, env)
	if large.rejected == nil || small.rejected != nil || len(s.String()) != len("pay:")+3e6 {
		t.Errorf("got %v and %v; the tools did %.50s", large.rejected, small.rejected, s)
	}

	lost := Answer{Decision: agent.Decision{Outcome: &journal.Reconciled{State: journal.StateOK,
		Result: json.RawMessage(`"` + strings.Repeat("x", 1e5) + `"`)}}}
	short, err := a.short(t.Context(), lost)
	d, bad := a.whole(t.Context(), short)
	if err = errors.Join(err, bad); err != nil || short.Decision.Outcome.Result != nil ||
		len(d.Outcome.Result) != len(lost.Decision.Outcome.Result) {
		t.Errorf("got %v, %v", short, err)
	}
}
