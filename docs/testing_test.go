package docs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// TestRefund is the code of testing.md.
func TestRefund(t *testing.T) {
	model, set := llmtest.Record(t, "testdata/refund", realModel(t), refunds(t), nil)
	box, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := bot.Run(t.Context(), agent.Task{Task: "Refund order 7, and say how much it was."})
	if err != nil {
		t.Fatal(pred.TrajectoryOf(err))
	}
	if pred.Output.Answer != "12 euros were refunded." {
		t.Errorf("got %q", pred.Output.Answer)
	}
}

// TestRefundApproval is the code of testing.md about approval.
func TestRefundApproval(t *testing.T) {
	if *update {
		t.Skip("TestRefund records")
	}
	model, set := llmtest.Record(t, "testdata/refund", nil, nil, nil) // TestRefund has recorded it
	box, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	set = set.With(policy.If(policy.Class(tools.Effect), policy.Approve(nil)))
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	runs := agent.NewRuns(journal.NewMemory())
	task := agent.Task{Task: "Refund order 7, and say how much it was."}
	_, err = agent.Start(t.Context(), runs, "refund-7", bot, task)
	paused, ok := errors.AsType[*agent.PausedError](err)
	if !ok || len(paused.Checkpoint.Waiting) != 1 || paused.Checkpoint.Waiting[0].Tool != "refund" {
		t.Fatalf("the refund does not wait for approval: %v", err)
	}
	yes := agent.Decision{Decision: policy.Decision{Approved: true, By: "ann"}}
	pred, err := agent.Resume(t.Context(), runs, bot, paused.Checkpoint,
		map[string]agent.Decision{paused.Checkpoint.Waiting[0].ID: yes})
	if err != nil {
		t.Fatal(pred.TrajectoryOf(err))
	}
	if pred.Output.Answer != "12 euros were refunded." {
		t.Errorf("got %q", pred.Output.Answer)
	}
}

// realModel stands for a real model, which only a recording needs.
func realModel(t *testing.T) llms.Model {
	t.Helper()
	if !*update {
		return nil
	}
	return llmtest.New("I refund the order.\n\n```js\nconst euros = await refund({order: 7});\n" +
		"submit({answer: `${euros} euros were refunded.`});\n```")
}

func refunds(t *testing.T) *tools.Set {
	t.Helper()
	type order struct {
		Order int `json:"order"`
	}
	refund := func(context.Context, order) (float64, error) {
		if !*update {
			t.Error("a recorded tool was called")
		}
		return 12, nil
	}
	set, err := tools.NewSet(t.Context(), tools.Func("refund", "Refund an order; returns the amount in euros.", refund,
		&tools.Hints{Class: tools.Effect}))
	if err != nil {
		t.Fatal(err)
	}
	return set
}
