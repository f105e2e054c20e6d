package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
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
	attempts := map[string]int{}
	env.RegisterActivityWithOptions(func(ctx context.Context, j job) (value, error) {
		o := order{}
		_ = json.Unmarshal(j.Args.JSON, &o)
		if attempts[o.Of]++; attempts[o.Of] == 1 && strings.HasPrefix(o.Of, "a") && o.Of != "a2" {
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
