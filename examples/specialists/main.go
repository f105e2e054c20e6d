// Specialists shows an agent with two sub-agents, which have tools of their own. A person approves refunds.
//
//	go run ./examples/specialists
//
// Unless -model names a real model, the model is scripted. The programs really run.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

type Order struct {
	Order string `json:"order"`
}

func main() {
	models.Main(func(ctx context.Context, m llms.Model, w io.Writer) error { return run(ctx, m, os.Stdin, w) },
		script...)
}

func run(ctx context.Context, model llms.Model, stdin io.Reader, w io.Writer) error {
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	var turn sync.Mutex // calls are concurrent
	ask := func(_ context.Context, r policy.Request) (policy.Decision, error) {
		turn.Lock()
		defer turn.Unlock()
		fmt.Fprintf(w, "%v\napprove? [y/n] ", r)
		var reply string
		_, err := fmt.Fscan(stdin, &reply)
		return policy.Decision{Approved: reply == "y", Reason: "a person said no"}, err
	}
	hire := func(sources ...tools.Source) (m module.Module[agent.Task, agent.Answer]) {
		set, failed := tools.NewSet(ctx, sources...)
		if failed == nil {
			set = set.With(policy.If(policy.Destructive(), policy.Approve(ask)))
			m, failed = agent.New(model, &agent.Options{Sandbox: box, Tools: set})
		}
		if failed != nil {
			err = failed
		}
		return m
	}
	do := func(context.Context, Order) (bool, error) { return true, nil }
	billing := hire(tools.Func("refund", "Refunds an order.", do, &tools.Hints{Destructive: true}))
	shipping := hire(tools.Func("resend", "Sends an order again.", do, nil))
	desk := hire(module.Tool("billing", "Settles payments.", billing, nil),
		module.Tool("shipping", "Sends goods.", shipping, nil))
	if err != nil {
		return err
	}
	pred, err := desk.Run(ctx, agent.Task{Task: "Order A-1 arrived broken: refund it. A-2 got lost: send it again."})
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, r := range pred.Trajectory.Runs {
		for _, call := range r.Calls {
			fmt.Fprintf(w, "%s, for call %s of the desk: %v\n", r.Name, r.CalledBy, call)
		}
	}
	fmt.Fprintln(w, pred.Output.Answer)
	return nil
}

var script = []string{
	"```js\nconst a = await billing({task: 'Refund A-1.'}), b = await shipping({task: 'Send A-2 again.'});\n" +
		"submit(a.answer + ' ' + b.answer)\n```",
	"```js\nconst end = await refund({order: 'A-1'}).then(() => 'refunded', e => 'not refunded: ' + e.message);\n" +
		"submit(`A-1 is ${end}.`)\n```",
	"```js\nawait resend({order: 'A-2'}); submit('A-2 is on its way.')\n```",
}
