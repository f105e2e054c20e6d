package agent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools/journal"
)

// within is a module with a budget, over all processes that run it.
type within struct {
	module module.Module[agent.Task, agent.Answer]
	limits budget.Limits
	spent  budget.Spent
}

// Run runs the module.
func (w *within) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	ctx = budget.With(ctx, w.limits)
	defer func() { w.spent = budget.Of(ctx).Spent() }()
	return w.module.Run(ctx, in)
}

// A run that is resumed is charged again only to a budget that began within the run, and exactly as before, so that its
// limits hold over all processes.
func TestBudgetOfResumedRun(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	programs := []string{`await note({to: "x"})`, `await send({to: "ann"})`, `submit({answer: "done"})`}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N == 1 {
			return llmtest.Reply{}, &models.Error{Kind: models.KindTransient, MaybeCharged: true, Err: errors.New("down")}
		}
		text := "```js\n" + programs[r.N-2] + "\n```"
		return llmtest.Reply{Text: text, InputTokens: 1000, OutputTokens: 10}, nil
	})
	bot, err := agent.New(models.Retry(model, &models.RetryOptions{MinWait: 1}), &agent.Options{
		Sandbox: open(t), Tools: o.tools(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &within{module: bot, limits: budget.Limits{Calls: 3, ToolCalls: 2}}
	first := budget.With(t.Context(), budget.Limits{})
	_, err = agent.Start(first, runs, "r-1", m, task)
	at, before := paused(t, err), m.spent
	if s := budget.Of(first).Spent(); s != before || s.Calls != 3 || s.Steps != 2 || s.ToolCalls != 1 {
		t.Errorf("spent %+v, and %+v within the run", s, before)
	}
	again := budget.With(t.Context(), budget.Limits{})
	_, err = agent.Resume(again, runs, m, at, map[string]agent.Decision{at.Waiting[0].ID: approved()})
	spent, ok := errors.AsType[*budget.Error](err)
	if !ok || spent.Limit != "3 model calls" || spent.Binds(again) || o.String() != "note:x send:ann" {
		t.Errorf("got %v after %v", err, o)
	}
	before.ToolCalls++
	if s := budget.Of(again).Spent(); m.spent != before || s != (budget.Spent{ToolCalls: 1}) {
		t.Errorf("spent %+v, and %+v within the run, want %+v", s, m.spent, before)
	}
}
