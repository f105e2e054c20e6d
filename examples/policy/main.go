// Policy shows a policy of one's own around the tools of a CodeAct. It limits the total of the refunds in a run,
// whatever the program does.
//
//	go run ./examples/policy
//
// Unless -model names a real model, the model is scripted. Its program really runs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type Input struct {
	Complaints []Refund `json:"complaints"`
}

type Refund struct {
	Order string `json:"order"`
	Euros int64  `json:"euros" jsonschema:"minimum=1,maximum=1000"`
}

type Output struct {
	Refused []string `json:"refused" jsonschema:"description=Each with the reason."`
}

// atMost is a policy that refuses refunds above a total. Calls are concurrent, so it reserves the amount before a call.
func atMost(euros int64) tools.Policy {
	var spent atomic.Int64
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			var r Refund // the schema has been checked, so the amount is between 1 and 1000
			if _ = json.Unmarshal(c.Args, &r); spent.Add(r.Euros) > euros {
				spent.Add(-r.Euros)
				return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "the limit of all refunds is reached"}
			}
			return next.Call(ctx, c)
		})
	}
}

func main() { models.Main(run, script) }

func run(ctx context.Context, model llms.Model, w io.Writer) error {
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	refund := func(context.Context, Refund) (bool, error) { return true, nil }
	set, err := tools.NewSet(ctx, tools.Func("refund", "Refunds an order.", refund, nil))
	if err != nil {
		return err
	}
	sig := signature.Must(signature.New[Input, Output]("Refund each complaint, or say why it was refused."))
	in := Input{[]Refund{{"A-1", 30}, {"A-2", 60}, {"A-3", 20}}}
	pred, err := module.NewCodeAct(sig, model, box, set.With(atMost(100)), nil).Run(ctx, in)
	fmt.Fprint(w, pred.TrajectoryOf(err)) // what was done, also if there is no answer
	return err
}

const script = "```js\n" + `const refused = [];
for (const c of complaints) await refund(c).catch(e => refused.push(c.order + ": " + e.message));
submit({ refused });
` + "```"
