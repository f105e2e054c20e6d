package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/temporal"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
)

type order struct {
	Order string `json:"order" jsonschema:"description=the customer and the number: c-1/7"`
}

// script is what the model replies: a program for the task that main gives.
const script = "```js\n" + `const [, n, customer] = task.match(/(\d+) orders of ([\w-]+)/);
const orders = Array.from({ length: Number(n) }, (_, i) => customer + "/" + (i + 1));
const atOnce = /one at a time/.test(task) ? 1 : 4;
while (orders.length) await Promise.all(orders.splice(0, atOnce).map(order => ship({ order })));
let answer = "Shipped " + n + " orders of " + customer + ".";
if (/refund/.test(task)) {
  await refund({ order: customer + "/7" }).then(() => answer += " Refunded order 7.", e => answer += " " + e.message);
}
submit({ answer });
` + "```"

// define defines the agent. It is one that also runs without Temporal: temporal.New says where its calls are made. The
// worker's name is for the tool server's log.
func (c config) define(box *sandbox.Sandbox, worker string) (*temporal.Agent, error) {
	class := tools.Effect
	if c.Honors {
		class = tools.Idempotent // the ID of the effect makes it so: a call that was lost is tried again
	}
	call := func(path string) func(context.Context, order) (string, error) {
		return func(ctx context.Context, o order) (string, error) {
			return "ok", post(ctx, c.Tools+path, tools.EffectID(ctx), worker, o)
		}
	}
	set, err := tools.NewSet(context.Background(),
		tools.Func("ship", "Ships an order.", call("/ship"), &tools.Hints{Class: class}),
		tools.Func("refund", "Refunds an order.", call("/refund"), &tools.Hints{Class: class, Destructive: true}))
	if err != nil {
		return nil, err
	}
	set = set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: script}, nil
	})
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		return nil, err
	}
	store, err := journal.OpenDir(filepath.Join(c.Dir, "journals"))
	objects, bad := temporal.OpenDir(filepath.Join(c.Dir, "objects"))
	if err = cmp.Or(err, bad); err != nil {
		return nil, err
	}
	return temporal.New("clerk", bot, &temporal.Options{
		Store: store, Objects: objects, Tools: set, CallTimeout: time.Minute, Heartbeat: 5 * time.Second,
	})
}

// runWorker runs the agent's workflows and activities until standard input ends.
func (c config) runWorker() error {
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	clerk, err := c.define(box, fmt.Sprintf("worker %d", os.Getpid()))
	if err != nil {
		return err
	}
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- clerk.Worker(ctx, conn, worker.Options{}) }()
	ready("ready")
	stop()
	return <-ended
}

func (c config) dial() (client.Client, error) {
	errs := slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})
	return client.Dial(client.Options{HostPort: c.Server, Namespace: c.Namespace,
		Logger: log.NewStructuredLogger(slog.New(errs))})
}
