package module_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// states lists the states of the effects of a run.
func states(effects []journal.Entry) string {
	var list []string
	for _, e := range effects {
		list = append(list, fmt.Sprintf("%s %s", e.Tool, e.State))
	}
	return strings.Join(list, ", ")
}

// A tool that runs a module may have had the module's effects even if there is no answer.
func TestModuleAsATool(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]struct {
		paid    int64
		states  string
		unknown bool
	}{
		`await pay({limit: 1}); null.x`: {1, "agent unknown", true},
		`await look({}); null.x`:        {0, "agent failed, agent failed", false},
	} {
		var paid atomic.Int64
		within := toolSet(t,
			tools.Func("pay", "", func(context.Context, orders) (int64, error) { return paid.Add(1), nil }, nil),
			tools.Func("look", "", func(context.Context, struct{}) (int, error) { return 1, nil },
				&tools.Hints{Class: tools.Read}))
		box := inProcess(t)
		agent := tools.Func("agent", "", func(ctx context.Context, _ struct{}) (int, error) {
			pred, err := module.NewCodeAct(adding, llmtest.New(fence(program)), box, within,
				&module.Options{MaxIters: 1}).Run(ctx, anything)
			if err != nil {
				return 0, fmt.Errorf("the agent: %w", err)
			}
			return pred.Output.Total, nil
		}, nil)
		model := llmtest.New(fence(`await agent({})`), fence(`await agent({}, {again: "E1"})`), submit1)
		pred, err := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, agent), nil).Run(t.Context(), anything)
		var effects []journal.Entry
		if incomplete := (*module.IncompleteError)(nil); errors.As(err, &incomplete) {
			effects = incomplete.Trajectory.Calls
		} else {
			effects = pred.Trajectory.Calls
		}
		unknown := (*journal.UnknownError)(nil)
		if got := states(effects); paid.Load() != want.paid || got != want.states ||
			errors.As(err, &unknown) != want.unknown {
			t.Errorf("%s: paid %d times, %s, %v", program, paid.Load(), got, err)
		}
	}
}

// The effects of attempts count too.
func TestMayHaveActed(t *testing.T) {
	t.Parallel()
	did := func(class tools.Class, s journal.State) module.Trajectory {
		return module.Trajectory{Calls: []journal.Entry{{Class: class, State: s}}}
	}
	for _, test := range []struct {
		of   module.Trajectory
		want bool
	}{
		{module.Trajectory{}, false},
		{did(tools.Read, journal.StateOK), false},
		{did(tools.Effect, journal.StateRejected), false},
		{did(tools.Effect, journal.StateFailed), false},
		{did(tools.Effect, journal.StateOK), true},
		{did(tools.Idempotent, journal.StateUnknown), true},
		{did(tools.Effect, "dispatched"), true},
	} {
		for _, all := range []module.Trajectory{test.of, {Runs: []module.Trajectory{{}, test.of}}} {
			if got := (&module.IncompleteError{Trajectory: all}).MayHaveActed(); got != test.want {
				t.Errorf("%+v: %t", all, got)
			}
		}
	}
}

// If the second part of a call did not take effect, the first part may have.
func TestModuleAsToolPartialEffects(t *testing.T) {
	t.Parallel()
	halves := tools.Func("halves", "", func(context.Context, orders) (int, error) {
		return 0, fmt.Errorf("the second half: %w",
			&tools.ToolError{Kind: tools.KindUnavailable, Message: "the bank is closed"})
	}, nil)
	model := llmtest.New(fence(`await halves({limit: 1})`), submit1)
	pred := mustRun(t, module.NewCodeAct(adding, model, inProcess(t), toolSet(t, halves), nil), anything)
	if got := states(pred.Trajectory.Calls); got != "halves failed" {
		t.Errorf("the record says %s", got)
	}
	want := `The program failed: line 1, column 7: ToolError: halves: the second half: the bank is closed
1 | await halves({limit: 1})
  |       ^

Write the whole program again, not only the rest.
Reported an error, but may have taken effect. Check first:
- E1 halves({"limit":1}) → the second half: the bank is closed
Leave out what took effect, and pass {distinct: "E1", again: "E1"} as the second argument of every call of halves, with only those under again that did not take effect.`
	if got := pred.Trajectory.Steps[0].Observation; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
