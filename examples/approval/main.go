// Approval shows two policies around the tools of a CodeAct: a person approves refunds, and a policy of one's own
// limits the amount of all refunds in a run. The program cannot get around either.
//
//	go run ./examples/approval
//
// Unless -model names a real model, the model is scripted. Its program really runs.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"

	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// Input is the task.
type Input struct {
	Complaints []Refund `json:"complaints"`
}

// Refund is an order and the amount to refund.
type Refund struct {
	Order string `json:"order"`
	Euros int64  `json:"euros" jsonschema:"minimum=1"`
}

// Output is the answer.
type Output struct {
	Refunded []string `json:"refunded"`
	Refused  []string `json:"refused" jsonschema:"description=Each with the reason."`
}

const script = "```js\n" + `const refunded = [], refused = [];
for (const { order, euros } of complaints) {
  try {
    await refund({ order, euros });
    refunded.push(order);
  } catch (e) {
    refused.push(order + ": " + e.message);
  }
}
submit({ refunded, refused });
` + "```"

// ceiling refuses refunds above a total. Calls are concurrent, so the amount is reserved before the call.
func ceiling(euros int64) tools.Policy {
	var spent atomic.Int64
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			var r Refund
			if err := json.Unmarshal(c.Args, &r); err != nil {
				return nil, err
			}
			if spent.Add(r.Euros) > euros {
				spent.Add(-r.Euros)
				return nil, &tools.ToolError{Kind: tools.KindDenied,
					Message: fmt.Sprintf("at most %d euros in all", euros)}
			}
			return next.Call(ctx, c)
		})
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	name := flag.String("model", "", models.Usage+"; without it the reply is scripted")
	flag.Parse()
	if err := run(ctx, *name, os.Stdin, show.Writer(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "approval:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, stdin io.Reader, w io.Writer) error {
	model, err := models.OpenOr(name, models.Options{Progress: w}, script)
	if err != nil {
		return err
	}
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	set, err := tools.NewSet(ctx, tools.Func("refund", "Refunds an order.",
		func(_ context.Context, r Refund) (bool, error) {
			fmt.Fprintf(w, "refunded %d euros for %s\n", r.Euros, r.Order)
			return true, nil
		}, &tools.Hints{Destructive: true}))
	if err != nil {
		return err
	}
	turn := make(chan struct{}, 1) // approvers are called concurrently
	ask := func(_ context.Context, r policy.Request) (policy.Decision, error) {
		turn <- struct{}{}
		defer func() { <-turn }()
		fmt.Fprintf(w, "%v\napprove? [y/n] ", r)
		var reply string
		_, err := fmt.Fscan(stdin, &reply)
		fmt.Fprintln(w)
		return policy.Decision{Approved: reply == "y", Reason: "a person said no"}, err
	}
	set = set.With(policy.If(policy.Destructive(), policy.Approve(ask)), ceiling(100))
	sig := signature.Must(signature.New[Input, Output]("Refund each complaint, or say why it was refused."))
	in := Input{[]Refund{{"A-1", 30}, {"A-2", 60}, {"A-3", 20}}}
	pred, err := module.NewCodeAct(sig, model, box, set, nil).Run(ctx, in)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "refunded: %q\nrefused: %q\n", pred.Output.Refunded, pred.Output.Refused)
	return nil
}
