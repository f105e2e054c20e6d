package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/sdk/activity"
)

// Several calls are lost, while others are in progress. The run goes on once all have decisions, and makes only those
// that were not made.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	s := &shop{}
	a, _ := newAgent(t, s.set(t), Options{}, `const all = [];
		for (const name of ["a", "b"]) all.push(...await Promise.all([1, 2, 3].map(n => buy({of: name + n}))));
		submit({answer: all.join()})`)
	env := environment(t, a)
	mu, attempts := sync.Mutex{}, map[string]int{}
	env.RegisterActivityWithOptions(func(ctx context.Context, j job) (value, error) {
		o := order{}
		_ = json.Unmarshal(j.Args.JSON, &o)
		mu.Lock()
		attempts[o.Of]++
		first := attempts[o.Of] == 1
		mu.Unlock()
		if first && strings.HasPrefix(o.Of, "a") && o.Of != "a2" {
			return value{}, errors.New("the worker has died")
		}
		return a.call(ctx, j)
	}, activity.RegisterOptions{Name: "bot" + activityCall, DisableAlreadyRegisteredCheck: true})
	decide := func() {
		for _, w := range waiting(t, a, env) {
			outcome := &journal.Reconciled{State: journal.StateRejected}
			if strings.Contains(string(w.Args), "a1") {
				outcome = &journal.Reconciled{State: journal.StateOK, Result: json.RawMessage("42")}
			}
			env.UpdateWorkflow(decideName, "u-"+w.ID, &updated{},
				Answer{Call: w.ID, Decision: agent.Decision{Outcome: outcome}})
		}
	}
	for n := range 3 { // the run may find one lost call after the other
		env.RegisterDelayedCallback(decide, time.Duration(n+1)*time.Hour)
	}
	got := answer(t, a, env)
	if s.String() != "buy:a2 buy:a3 buy:b1 buy:b2 buy:b3" || attempts["a1"] != 1 || attempts["a3"] != 2 ||
		!strings.Contains(got, "42,1,2") {
		t.Errorf("got %s; attempts %v; the tools did %s", got, attempts, s)
	}
}

// An answer that was accepted counts, although another call is lost before the run goes on.
func TestLostAfterAnswer(t *testing.T) {
	t.Parallel()
	s, asked := &shop{}, make(chan struct{})
	a, _ := newAgent(t, s.set(t), Options{},
		`submit({answer: (await Promise.all(["a", "b"].map(of => buy({of})))).join()})`)
	env := environment(t, a)
	attempts, resumed := atomic.Int32{}, atomic.Bool{}
	env.RegisterActivityWithOptions(func(_ context.Context, j job) (value, error) {
		if attempts.Add(1); strings.Contains(string(j.Args.JSON), "b") {
			<-asked
		}
		return value{}, errors.New("the worker has died")
	}, activity.RegisterOptions{Name: "bot" + activityCall, DisableAlreadyRegisteredCheck: true})
	env.RegisterActivityWithOptions(func(ctx context.Context, in advance) (progress, error) {
		if len(in.Answers) == 1 && len(in.Running) == 1 && !resumed.Swap(true) { // as if the call had just been lost
			defer close(asked)
			in.Results = append(in.Results, result{ID: in.Running[0], Number: 99, Lost: "the worker has died"})
			in.Running = nil
		}
		return a.advance(ctx, in)
	}, activity.RegisterOptions{Name: "bot" + activityAdvance, DisableAlreadyRegisteredCheck: true})
	seen := map[string]int{}
	var look func()
	look = func() {
		for _, w := range waiting(t, a, env) {
			seen[string(w.Args)]++
			env.UpdateWorkflow(decideName, "u-"+w.ID, &updated{}, Answer{Call: w.ID, Decision: agent.Decision{
				Outcome: &journal.Reconciled{State: journal.StateOK, Result: json.RawMessage("42")}}})
		}
		if len(seen) < 2 {
			env.RegisterDelayedCallback(look, 20*time.Millisecond)
		}
	}
	env.RegisterDelayedCallback(look, 20*time.Millisecond)
	got := answer(t, a, env)
	if !strings.Contains(got, "42,42") || attempts.Load() != 2 || !resumed.Load() ||
		seen[`{"of":"a"}`] != 1 || seen[`{"of":"b"}`] != 1 {
		t.Errorf("got %s; %d attempts; asked %v", got, attempts.Load(), seen)
	}
}

// A paused run does not wait for a decision on a call that is in progress or has a result, unless it cannot take it.
func TestPausedWithResults(t *testing.T) {
	t.Parallel()
	a, _ := newAgent(t, (&shop{}).set(t), Options{})
	w := agent.Waiting{ID: "r-1/x:E1", Tool: "buy", Unknown: true, Args: json.RawMessage(`{}`)}
	good, bad := json.RawMessage(`{"result":7}`), json.RawMessage(`{"error":{"kind":"failed","message":"no"}}`)
	for _, c := range []struct {
		in      advance
		waiting int
		busy    bool
	}{
		{advance{}, 1, false},
		{advance{Running: []string{w.ID}}, 0, false},
		{advance{Results: []result{{ID: w.ID, Digest: digestOf(w.Args), Outcome: value{JSON: good}}}}, 0, true},
		{advance{Results: []result{{ID: w.ID, Digest: digestOf(w.Args), Outcome: value{JSON: bad}}}}, 1, false},
		{advance{Results: []result{{ID: w.ID, Lost: "lost"}}}, 1, false},
	} {
		p, err := a.paused(t.Context(), c.in, []agent.Waiting{w})
		if err != nil || len(p.Waiting) != c.waiting || p.Busy != c.busy {
			t.Errorf("%+v: got %+v, %v", c.in, p, err)
		}
	}
}

// All answers about unknown calls reach the run at once, before others.
func TestManyUnknown(t *testing.T) {
	t.Parallel()
	f := &flow{answered: map[string]bool{}}
	for i := range 40 {
		id := fmt.Sprint(i)
		f.waiting = append(f.waiting, waitingCall{Waiting: agent.Waiting{ID: id, Unknown: i >= 20}})
		f.Answers, f.answered[id] = append(f.Answers, Answer{Call: id}), true
	}
	if got := f.decided(); got != 20+maxAnswers {
		t.Errorf("the run goes on for %d answers", got)
	}
	delete(f.answered, "30")
	if got := f.decided(); got != 0 {
		t.Errorf("without a decision on an unknown call, the run goes on for %d answers", got)
	}
}
