// Telemetry exports the spans and metrics of an agent with a scripted model. OpenTelemetry's environment variables
// choose where: an OTLP collector on this machine by default.
//
//	OTEL_TRACES_EXPORTER=console OTEL_METRICS_EXPORTER=none go run .
//
// The example in server_test.go serves the metrics of an MCP server for Prometheus.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/telemetry"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	spans, err1 := autoexport.NewSpanExporter(ctx)
	reader, err2 := autoexport.NewMetricReader(ctx)
	box, err3 := sandbox.New(nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	defer box.Close()
	tracers := trace.NewTracerProvider(trace.WithBatcher(spans))
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { err = errors.Join(err, tracers.Shutdown(ctx), meters.Shutdown(ctx)) }() // exports what is left
	t, err := telemetry.New(&telemetry.Options{TracerProvider: tracers, MeterProvider: meters})
	if err != nil {
		return err
	}
	bot, err := agent.New(llmtest.New("```js\nsubmit(`2 + 2 is ${2 + 2}.`)\n```"), &agent.Options{Sandbox: box})
	if err != nil {
		return err
	}
	pred, err := bot.Run(t.Observe(ctx), agent.Task{Task: "What is 2 + 2?"})
	if err != nil {
		return err
	}
	fmt.Println(pred.Output.Answer)
	return nil
}
