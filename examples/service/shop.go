package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

type order struct {
	Order int `json:"order"`
}

// newAgent returns an agent that can refund orders, each after approval.
func newAgent(ctx context.Context, db *sql.DB, box *sandbox.Sandbox, name string) (*agent.Agent, error) {
	_, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS refunds (number INTEGER PRIMARY KEY, order_id INTEGER)")
	if err != nil {
		return nil, err
	}
	refund := func(ctx context.Context, in order) (string, error) {
		result, err := db.ExecContext(ctx, "INSERT INTO refunds (order_id) VALUES (?)", in.Order)
		if err != nil {
			return "", err
		}
		number, err := result.LastInsertId()
		return fmt.Sprintf("refund %d of order %d", number, in.Order), err
	}
	set, err := tools.NewSet(ctx, tools.Func("refund", "Refunds an order.", refund, &tools.Hints{Destructive: true}))
	if err != nil {
		return nil, err
	}
	var model llms.Model = llmtest.Func(scripted)
	if name != "" {
		if model, err = models.Open(name, models.Options{}); err != nil {
			return nil, err
		}
	}
	set = set.With(policy.If(policy.Destructive(), policy.Approve(nil))) // nil: the run pauses
	return agent.New(model, &agent.Options{Sandbox: box, Tools: set})
}

// scripted is the model that writes the same program for every task.
func scripted(context.Context, llmtest.Request) (llmtest.Reply, error) {
	return llmtest.Reply{Text: "```js\n" + `const order = Number(task.match(/\d+/)[0]);
submit({ answer: "This was " + await refund({ order }) + "." });
` + "```"}, nil
}
