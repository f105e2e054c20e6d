package docs_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/journal/sqljournal"
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

// fromDatabase is compiled only, because it needs a driver.
func fromDatabase(ctx context.Context, db *sql.DB) error {
	store, err := sqljournal.Open(ctx, db, nil)
	if err != nil {
		return err
	}
	runs := agent.NewRuns(store)
	_, err = runs.List(ctx)
	return err
}

var _ = fromDatabase

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

// TestResemblingCall lets a person say that a call is the same as an earlier one.
func TestResemblingCall(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	type mail struct {
		Text string `json:"text"`
	}
	sent := 0
	set, err := tools.NewSet(t.Context(), tools.Func("send", "Send.",
		func(context.Context, mail) (int, error) { sent++; return sent, nil }, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New("```js\nawait send({text: 'Hi'}); throw 1\n```",
		"```js\nsubmit({answer: String(await send({text: 'Hi!'}))})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	runs := agent.NewRuns(journal.NewMemory())
	runs.AskHolds = true
	_, err = agent.Start(t.Context(), runs, "r-1", bot, agent.Task{Task: "Send it."})
	paused, ok := errors.AsType[*agent.PausedError](err)
	if !ok || len(paused.Checkpoint.Waiting) != 1 || len(paused.Checkpoint.Waiting[0].Resembles) != 1 {
		t.Fatalf("got %v", err)
	}
	same := agent.Decision{Repeat: &tools.Repeat{Same: "E1"}}
	pred, err := agent.Resume(t.Context(), runs, bot, paused.Checkpoint,
		map[string]agent.Decision{paused.Checkpoint.Waiting[0].ID: same})
	if err != nil || pred.Output.Answer != "1" || sent != 1 {
		t.Errorf("got %v, %v; sent %d", pred, err, sent)
	}
}

// TestUnknownOutcome lets a person answer for a call that was in progress when its process ended.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	paid := 0
	set, err := tools.NewSet(t.Context(), tools.Func("pay", "Pay.", func(context.Context, struct{}) (bool, error) {
		paid++
		return false, tools.Unknown(errors.New("the connection was lost"))
	}, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New("```js\nlet paid; try { paid = await pay({}) } catch { paid = await pay({}) }\nsubmit({answer: String(paid)})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	runs := agent.NewRuns(journal.NewMemory())
	_, err = agent.Start(t.Context(), runs, "r-1", bot, agent.Task{Task: "Pay."})
	paused, ok := errors.AsType[*agent.PausedError](err)
	if !ok || len(paused.Checkpoint.Waiting) != 1 || !paused.Checkpoint.Waiting[0].Unknown {
		t.Fatalf("got %v", err)
	}
	done := agent.Decision{Outcome: &journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(`true`)}}
	pred, err := agent.Resume(t.Context(), runs, bot, paused.Checkpoint,
		map[string]agent.Decision{paused.Checkpoint.Waiting[0].ID: done})
	if err != nil || pred.Output.Answer != "true" || paid != 1 {
		t.Errorf("got %v, %v; paid %d times", pred, err, paid)
	}
	if calls, err := runs.Calls(t.Context(), "r-1"); err != nil || len(calls) != 1 {
		t.Errorf("got %v, %v", calls, err)
	}
}
