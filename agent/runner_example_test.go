package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// A run waits until a person approves a refund, for example by a second HTTP request.
func ExampleRunner() {
	ctx := context.Background()
	type order struct {
		Order int `json:"order"`
	}
	refund := tools.Func("refund", "Refunds an order.", func(_ context.Context, o order) (string, error) {
		return fmt.Sprintf("refunded order %d", o.Order), nil
	}, &tools.Hints{Class: tools.Effect, Destructive: true})
	set, err := tools.NewSet(ctx, refund)
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	model := llmtest.New("```js\nsubmit({answer: await refund({order: 7})})\n```") // or models.Open
	bot, err := agent.New(model, &agent.Options{Sandbox: box,
		Tools: set.With(policy.If(policy.Destructive(), policy.Approve(nil)))})
	if err != nil {
		log.Fatal(err)
	}

	runner, err := agent.NewRunner(agent.NewRuns(journal.NewMemory()), bot, nil) // or journal.OpenDir
	if err != nil {
		log.Fatal(err)
	}
	if err := runner.Recover(ctx); err != nil { // the runs of an earlier process
		log.Fatal(err)
	}
	info, err := runner.Start(ctx, agent.RunRequest{ID: "r-1", Principal: "ann",
		Input: json.RawMessage(`{"task": "Refund order 7."}`)})
	if err != nil {
		log.Fatal(err)
	}
	if info, err = runner.Wait(ctx, info.ID); err != nil {
		log.Fatal(err)
	}
	call := info.Waiting[0]
	fmt.Printf("%s: %s(%s)\n", info.State, call.Tool, call.Args)
	yes := agent.Decision{Decision: policy.Decision{Approved: true, By: "bob"}, Round: call.Round}
	if err := runner.Decide(ctx, info.ID, call.ID, yes); err != nil {
		log.Fatal(err)
	}
	if info, err = runner.Wait(ctx, info.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s\n", info.State, info.Output)

	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	fmt.Println(runner.Shutdown(ctx))
	// Output:
	// paused: refund({"order":7})
	// done: {"answer":"refunded order 7"}
	// <nil>
}
