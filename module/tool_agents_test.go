package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/policy"
)

// Modules that call each other end.
func TestDepthOfTools(t *testing.T) {
	t.Parallel()
	var runs atomic.Int64
	later := &late{}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if isFirst(r) {
			runs.Add(1)
			return llmtest.Reply{Text: fence("submit(await ask({limit: 1}))")}, nil
		}
		if !strings.Contains(r.Last(), "agents may call each other at most 8 deep") {
			t.Errorf("the model was told\n%s", r.Last())
		}
		return llmtest.Reply{Text: submit1}, nil
	})
	later.Module = module.NewCodeAct(adding, model, inProcess(t), toolSet(t, module.Tool("ask", "", totaler(later), nil)), nil)
	pred, err := later.Module.Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 1 || runs.Load() != 9 {
		t.Errorf("%d runs, %v, %v", runs.Load(), pred, err)
	}
}

type fareKey struct{}

// A person who is asked about a call of an agent's agent sees who wants it, and the trajectory says which calls made
// the runs. The context of the agents derives from that of the caller.
func TestAgentsOfCall(t *testing.T) {
	t.Parallel()
	pay := tools.Func("pay", "", func(ctx context.Context, in orders) (sum, error) {
		total, _ := ctx.Value(fareKey{}).(int)
		return sum{total}, nil
	}, &tools.Hints{Destructive: true})
	clerk := module.NewCodeAct(adding, passes("pay"), inProcess(t), toolSet(t, pay).With(policy.AllowDestructive), nil)
	boss := module.NewCodeAct(adding, passes("clerk"), inProcess(t), toolSet(t, module.Tool("clerk", "", totaler(clerk), nil)), nil)
	source := module.Tool("boss", "", totaler(boss), nil)
	source.Namespace = "staff"
	look := tools.Func("look", "", func(context.Context, struct{}) (int, error) { return 1, nil }, onlyReads)
	model := llmtest.New(fence(`await look({}); submit(await staff.boss({limit: 1}))`))
	var asked []string
	ask := policy.Approve(func(_ context.Context, r policy.Request) (policy.Decision, error) {
		asked = append(asked, r.String())
		return policy.Decision{Approved: slices.Equal(r.Agents, []string{"staff.boss", "clerk"})}, nil
	})
	notSeen := policy.Approve(func(_ context.Context, r policy.Request) (policy.Decision, error) {
		return policy.Decision{Approved: r.Tool == "staff.boss" && r.Agents == nil}, nil
	})
	set := toolSet(t, source, look).With(policy.If(policy.Tools("staff.*"), notSeen))
	ctx := tools.WithPolicies(context.WithValue(t.Context(), fareKey{}, 7), policy.If(policy.Destructive(), ask))
	pred, err := module.NewCodeAct(adding, model, inProcess(t), set, nil).Run(ctx, anything)
	if err != nil || pred.Output.Total != 7 {
		t.Fatalf("got %v, %v", pred, err)
	}
	if want := "pay (unclassified, destructive), wanted by staff.boss > clerk\n"; len(asked) != 1 || !strings.HasPrefix(asked[0], want) {
		t.Errorf("asked %q", asked)
	}
	first := pred.Trajectory.Runs[0]
	got := strings.Join([]string{first.Name, first.CalledBy, first.Runs[0].Name, first.Runs[0].CalledBy}, " ")
	if got != "boss E2 clerk E1" {
		t.Errorf("got %s", got)
	}
	if want := `run 1: boss (CodeAct), called by E2 staff.boss({"limit":1}), `; !strings.Contains(pred.Trajectory.String(), want) {
		t.Errorf("got\n%s", pred.Trajectory)
	}
	record, err := json.Marshal(pred.Trajectory)
	if err != nil || !strings.Contains(string(record), `"called_by":"E2"`) {
		t.Errorf("got %s, %v", record, err)
	}
}

// The model that calls an agent does not see what its errors hide.
func TestErrorOfAgent(t *testing.T) {
	t.Parallel()
	down := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{}, tools.HostOnly(errors.New("key 5ecret is invalid"))
	})
	agent := module.NewCodeAct(adding, down, inProcess(t), nil, nil)
	model := llmtest.New(fence(`await ask({limit: 1})`), submit1)
	pred := mustRun(t, module.NewCodeAct(adding, model, inProcess(t), toolSet(t, module.Tool("ask", "", totaler(agent), nil)), nil), anything)
	if got := states(pred.Trajectory.Calls); got != "ask failed" || strings.Contains(model.Requests()[1].Text(), "5ecret") {
		t.Errorf("got %s\n%s", got, model.Requests()[1].Last())
	}
}

// A program knows what an agent returns.
func TestTypeOfAgent(t *testing.T) {
	t.Parallel()
	got := declare.Markdown(toolSet(t, module.Tool("ask", "Adds up.", totaler(newSum()), nil)), 0)
	if want := "function ask(args: {limit: number /* integer, ≥ 1 */}): Promise<{total: number}>;"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwithout %s", got, want)
	}
}
