package module_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// fixedSandbox ends every program in the same way, except every fifth, which submits an answer.
type fixedSandbox struct {
	runs           int
	looked, answer *sandbox.Outcome
}

// Run implements [module.Sandbox].
func (s *fixedSandbox) Run(context.Context, sandbox.Program) (*sandbox.Outcome, error) {
	if s.runs++; s.runs%5 == 0 {
		return s.answer, nil
	}
	return s.looked, nil
}

func newFixedSandbox() *fixedSandbox {
	return &fixedSandbox{
		looked: &sandbox.Outcome{
			Value:  json.RawMessage(`[{"name":"Mole","total":1},{"name":"Rat","total":2},{"name":"Toad","total":3}]`),
			Stdout: sandbox.Output{Text: "3 orders\n", Bytes: 9},
		},
		answer: &sandbox.Outcome{Value: json.RawMessage(`{"total":6,"names":["Mole","Rat","Toad"]}`), Submitted: true},
	}
}

var reporting = signature.Must(signature.New[orders, report]("Report on the orders."))

const looking = "Look at the orders before summing them up.\n\n```js\n%s```"

const lookingLines = "{ const orders = await list_orders({limit});\nconsole.log(orders.length, 'orders');\norders }\n"

// BenchmarkCodeActStep measures the cost of a step without the model and the sandbox, in a run of
// five steps: four observations and an answer. The floor, which is subtracted, is a model and a
// sandbox that do nothing.
func BenchmarkCodeActStep(b *testing.B) {
	b.Run("3-lines", func(b *testing.B) { benchmarkStep(b, 1) })
	b.Run("60-lines", func(b *testing.B) { benchmarkStep(b, 20) })
}

func benchmarkStep(b *testing.B, times int) {
	const steps = 5
	model, box := says(fmt.Sprintf(looking, strings.Repeat(lookingLines, times))), newFixedSandbox()
	set, err := tools.NewSet(
		b.Context(),
		tools.Func(
			"list_orders",
			"Lists orders.",
			func(context.Context, page) ([]order, error) { return nil, nil },
			&tools.Hints{Class: tools.Read},
		),
	)
	if err != nil {
		b.Fatal(err)
	}
	act := module.NewCodeAct(reporting, model, box, set, nil)
	var ours, floor time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := act.Run(b.Context(), orders{Limit: 3}); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		for range steps {
			if _, err := model.GenerateContent(b.Context(), []llms.MessageContent{}); err != nil {
				b.Fatal(err)
			}
			if _, err := box.Run(b.Context(), sandbox.Program{}); err != nil {
				b.Fatal(err)
			}
		}
		ours, floor = ours+middle.Sub(start), floor+time.Since(middle)
	}
	perStep := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(b.N*steps) }
	b.ReportMetric(perStep(ours-floor), "ns/step")
	b.ReportMetric(perStep(floor), "raw-ns/step")
}
