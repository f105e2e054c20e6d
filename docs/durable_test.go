package docs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// TestDurable runs the code of durable.md.
func TestDurable(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	type order struct {
		Order int `json:"order"`
	}
	refunded := 0
	set, err := tools.NewSet(t.Context(), tools.Func("refund", "Refund an order.",
		func(context.Context, order) (bool, error) { refunded++; return true, nil },
		&tools.Hints{Class: tools.Effect, Destructive: true}))
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
	model := llmtest.New("```js\nsubmit({answer: String(await refund({order: 7}))})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	var answer string
	if err := refund(t.Context(), t.TempDir(), bot, &answer); err != nil || answer != "true" || refunded != 1 ||
		len(model.Requests()) != 1 {
		t.Errorf("got %q, %v; %d refunds, %d requests", answer, err, refunded, len(model.Requests()))
	}
}

func refund(ctx context.Context, dir string, bot *agent.Agent, answer *string) error {
	store, err := journal.OpenDir(dir)
	if err != nil {
		return err
	}
	runs := agent.NewRuns(store)
	pred, err := agent.Start(ctx, runs, "r-1", bot, agent.Task{Task: "Refund order 7."})
	paused, ok := errors.AsType[*agent.PausedError](err)
	if !ok || pred != nil {
		return fmt.Errorf("the run is not paused: %w", err)
	}
	checkpoint := paused.Checkpoint

	decisions := map[string]agent.Decision{}
	for _, call := range checkpoint.Waiting {
		decisions[call.ID] = agent.Decision{Decision: policy.Decision{Approved: true, By: "ann"}}
	}
	pred, err = agent.Resume(ctx, runs, bot, checkpoint, decisions)
	if err == nil {
		*answer = pred.Output.Answer
	}
	return err
}
