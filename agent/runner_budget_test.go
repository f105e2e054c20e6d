package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// A budget in the context of a run counts what an earlier process has spent.
func TestRunnerBudget(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	send := tools.Func("send", "Sends.", func(context.Context, struct{}) (string, error) { return "sent", nil },
		&tools.Hints{Destructive: true})
	set, err := tools.NewSet(t.Context(), send)
	if err != nil {
		t.Fatal(err)
	}
	store, asked := journal.NewMemory(), 0
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		asked++
		return llmtest.Reply{Text: "```js\nconsole.log(await send({}))\n```"}, nil
	})
	start := func() *agent.Runner {
		bot, err := agent.New(model, &agent.Options{Sandbox: box,
			Tools: set.With(policy.If(policy.Destructive(), policy.Approve(nil)))})
		if err != nil {
			t.Fatal(err)
		}
		r, err := agent.NewRunner(agent.NewRuns(store), bot, &agent.RunnerOptions{
			Context: func(ctx context.Context, _ agent.RunInfo) context.Context {
				return budget.With(ctx, budget.Limits{Calls: 2})
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := start()
	info, err := r.Start(t.Context(), agent.RunRequest{ID: "r-1", Input: json.RawMessage(`{"task": "Send."}`)})
	for range 3 {
		if err == nil {
			info, err = r.Wait(t.Context(), "r-1")
		}
		if err != nil || info.State != agent.Paused {
			break
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		r = start() // another process
		w := info.Waiting[0]
		err = r.Decide(t.Context(), "r-1", w.ID, agent.Decision{Decision: policy.Decision{Approved: true}, Round: w.Round})
	}
	if err != nil || asked != 2 || info.State != agent.Failed || !strings.Contains(info.Error, "budget") {
		t.Errorf("got %+v, %v after %d requests", info, err, asked)
	}
}
