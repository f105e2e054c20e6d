// Telemetry exports the spans and metrics of an agent with a scripted model or, with -serve, the metrics of an MCP
// server. OpenTelemetry's environment variables choose where: an OTLP collector on this machine by default.
//
//	OTEL_TRACES_EXPORTER=console OTEL_METRICS_EXPORTER=none go run .
//	OTEL_TRACES_EXPORTER=none OTEL_METRICS_EXPORTER=prometheus go run . -serve
//
// The second command serves MCP at http://127.0.0.1:8080/mcp, and metrics at http://localhost:9464/metrics.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/codemode"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/telemetry"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	serving := flag.Bool("serve", false, "serve MCP instead of running an agent")
	flag.Parse()
	if err := run(ctx, *serving); err != nil {
		fmt.Fprintln(os.Stderr, "telemetry:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, serving bool) (err error) {
	spans, err1 := autoexport.NewSpanExporter(ctx)
	reader, err2 := autoexport.NewMetricReader(ctx)
	box, err3 := sandbox.New(nil)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	defer box.Close()
	tracers := trace.NewTracerProvider(trace.WithBatcher(spans))
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { // exports what is left
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, tracers.Shutdown(ctx), meters.Shutdown(ctx))
	}()
	if serving {
		server, err := codemode.New(&codemode.Options{Sandbox: box, MeterProvider: meters})
		if err != nil {
			return err
		}
		defer server.Close()
		return server.Serve(ctx, &serve.Options{Transport: serve.HTTP})
	}
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
