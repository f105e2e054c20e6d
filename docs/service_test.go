package docs_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// These examples are shown in service.md.

type complaint struct {
	Text string `json:"text"`
}

type settled struct {
	Orders []string `json:"orders" jsonschema:"description=those that were refunded"`
}

// desk returns a module with a shop's refund tool.
func desk(box *sandbox.Sandbox, refund func(context.Context, order) (string, error)) *module.CodeAct[complaint, settled] {
	set, err := tools.NewSet(context.Background(), tools.Func("refund", "Refunds an order.", refund, &tools.Hints{Destructive: true}))
	if err != nil {
		panic(err)
	}
	model := llmtest.New("```js\nawait refund({id: \"A1\"});\nsubmit({orders: [\"A1\"]})\n```").
		With(models.Capabilities{Model: "small"})
	return module.NewCodeAct(signature.Must(signature.New[complaint, settled]("Settle the complaint.")), model, box, set,
		&module.Options{Logger: slog.New(slog.DiscardHandler)})
}

var prices = map[string]budget.Price{"small": {Input: 1, Output: 4}}

// settle answers one request for at most five cents.
func settle(ctx context.Context, log *slog.Logger, shared *module.CodeAct[complaint, settled], in complaint) (*settled, error) {
	ctx = budget.With(ctx, budget.Limits{Time: time.Minute, Cost: 0.05, Prices: prices})
	pred, err := shared.Run(ctx, in)
	done := module.Result[settled]{Prediction: pred, Err: err}.Trajectory()
	log.InfoContext(ctx, "settled", "run", done, "cost", budget.Of(ctx).Spent().Cost)
	for e := range done.AllCalls() {
		if e.State == journal.StateUnknown {
			log.ErrorContext(ctx, "find out what happened",
				"call", e.ID, "tool", e.Tool, "args", string(e.Args), "error", e.Err)
		}
	}
	if err != nil {
		return nil, err
	}
	return &pred.Output, nil
}

func Example_settle() {
	box, err := sandbox.NewInProcess(nil) // sandbox.New for programs of real models
	if err != nil {
		panic(err)
	}
	defer box.Close()
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		switch {
		case a.Key == "time":
			return slog.Attr{}
		case a.Key == "id", a.Key == "duration", a.Key == "cost", slices.Contains(groups, "usage"):
			return slog.String(a.Key, "…") // they differ from run to run
		}
		return a
	}}))
	ctx, cancel := context.WithCancel(context.Background())
	answer, err := settle(ctx, log, desk(box, func(context.Context, order) (string, error) { return "done", nil }), complaint{"It broke."})
	fmt.Println(answer, err)
	over := make(chan struct{})
	_, err = settle(ctx, log, desk(box, func(ctx context.Context, _ order) (string, error) {
		cancel() // the client disconnects
		<-over   // the shop does not notice
		return "", ctx.Err()
	}), complaint{"It broke."})
	close(over)
	fmt.Println(err)
	// Output:
	// level=INFO msg=settled run.id=… run.module=CodeAct run.steps=1 run.runs=0 run.calls.ok=1 run.usage.calls=… run.usage.hits=… run.usage.input_tokens=… run.usage.output_tokens=… run.duration=… cost=…
	// &{[A1]} <nil>
	// level=INFO msg=settled run.id=… run.module=CodeAct run.steps=1 run.runs=0 run.calls.unknown=1 run.usage.calls=… run.usage.hits=… run.usage.input_tokens=… run.usage.output_tokens=… run.duration=… run.error="sandbox: context canceled" cost=…
	// level=ERROR msg="find out what happened" call=E1 tool=refund args="{\"id\":\"A1\"}" error="the tool had not answered when the program that called it ended"
	// module: no answer after 1 step: sandbox: context canceled
}

func Example_eventsOfService() {
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		panic(err)
	}
	defer box.Close()
	shared := desk(box, func(context.Context, order) (string, error) { return "done", nil })
	var mu sync.Mutex
	lines := &strings.Builder{}

	ctx := module.Observe(context.Background(), func(_ context.Context, e event.Event) {
		line, err := event.JSON(e)
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(lines, cmp.Or(string(line), fmt.Sprint(err)))
	})

	if _, err := shared.Run(ctx, complaint{"It broke."}); err != nil {
		panic(err)
	}
	for line := range strings.Lines(lines.String()) {
		var e struct {
			Event string
			Data  event.Origin
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			panic(err)
		}
		fmt.Println(e.Event, e.Data.Module)
	}
	// Output:
	// RunStart CodeAct
	// ModelRequest CodeAct
	// ModelResponse CodeAct
	// ProgramStart CodeAct
	// ToolCallStart CodeAct
	// ToolCallEnd CodeAct
	// ProgramEnd CodeAct
	// RunEnd CodeAct
}
