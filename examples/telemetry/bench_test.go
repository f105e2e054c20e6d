package main

import (
	"context"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/telemetry"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
)

// discard is an exporter.
type discard struct{}

// ExportSpans implements [trace.SpanExporter].
func (discard) ExportSpans(context.Context, []trace.ReadOnlySpan) error { return nil }

// Shutdown implements [trace.SpanExporter].
func (discard) Shutdown(context.Context) error { return nil }

// BenchmarkSpan measures the cost of a span with the SDK, including its metrics: three spans for each run of a Predict.
// The floor, which is subtracted, is the same run without telemetry.
func BenchmarkSpan(b *testing.B) {
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "[[ ## n ## ]]\n1\n\n[[ ## completed ## ]]"}, nil
	})
	ask := module.NewPredict(signature.Must(signature.New[word, number]("Count.")), model, nil)
	tracers := trace.NewTracerProvider(trace.WithBatcher(discard{}))
	meters := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
	observer, err := telemetry.New(&telemetry.Options{TracerProvider: tracers, MeterProvider: meters})
	if err != nil {
		b.Fatal(err)
	}
	run := func(ctx context.Context) time.Duration {
		begin := time.Now()
		if _, err := ask.Run(ctx, word{"a"}); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	var with, without time.Duration
	for b.Loop() {
		without += run(b.Context())
		with += run(observer.Observe(b.Context()))
	}
	b.ReportMetric(float64(with-without)/float64(3*b.N), "ns/span")
	b.ReportMetric(float64(without)/float64(b.N), "ns/floor")
}
