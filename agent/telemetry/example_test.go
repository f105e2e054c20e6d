package telemetry_test

import (
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/telemetry"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"go.opentelemetry.io/otel/metric/noop"
	tracers "go.opentelemetry.io/otel/trace/noop"
)

// A program with an SDK passes the SDK's providers; examples/telemetry is such a program.
func Example() {
	t, err := telemetry.New(&telemetry.Options{
		TracerProvider: tracers.NewTracerProvider(), MeterProvider: noop.NewMeterProvider(), Provider: "openai",
	})
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	bot, err := agent.New(llmtest.New("```js\nsubmit(`2 + 2 is ${2 + 2}.`)\n```"), &agent.Options{Sandbox: box})
	if err != nil {
		log.Fatal(err)
	}
	pred, err := bot.Run(t.Observe(context.Background()), agent.Task{Task: "What is 2 + 2?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Answer)
	// Output:
	// 2 + 2 is 4.
}
