// Package telemetry makes OpenTelemetry traces and metrics from the events of runs:
//
//	t, err := telemetry.New(&telemetry.Options{TracerProvider: tracers, MeterProvider: meters})
//	…
//	pred, err := bot.Run(t.Observe(ctx), agent.Task{Task: "…"})
//
// The names follow version 1.41.0 of the OpenTelemetry semantic conventions for generative AI
// (https://opentelemetry.io/schemas/1.41.0); names that the conventions lack begin with "writ.". docs/telemetry.md lists
// the spans and metrics, and examples/telemetry has an SDK and exporters: this package needs only OpenTelemetry's API.
package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/tools"
	"go.opentelemetry.io/otel/metric"
	meters "go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
	tracers "go.opentelemetry.io/otel/trace/noop"
)

// Options configures a [Telemetry]. The zero value of every field is its default, and nil Options are the defaults.
type Options struct {
	// TracerProvider creates the spans. Nil means no spans.
	TracerProvider trace.TracerProvider

	// MeterProvider creates the metrics. Nil means no metrics.
	MeterProvider metric.MeterProvider

	// Provider is the value of gen_ai.provider.name, such as "openai" or "anthropic". Empty means "_OTHER".
	Provider string

	// Contents adds prompts, replies, programs, arguments, results and the text of errors to the spans. They may contain
	// personal data and be large. Metrics and log records never contain them.
	Contents bool

	// Logger logs each span when it ends, with trace_id and span_id, at level info or, if the span has an error, warn.
	// Nil logs nothing.
	Logger *slog.Logger
}

// Telemetry makes spans and metrics from the events of runs. It is safe for concurrent use.
type Telemetry struct {
	options Options
	tracer  trace.Tracer
	metrics instruments

	mu   sync.Mutex
	runs map[uint64]*run // in progress
}

const scope = "github.com/writ-go/writ/agent/telemetry"

// New returns a Telemetry. It returns an error if the MeterProvider cannot create the metrics.
func New(o *Options) (*Telemetry, error) {
	t := &Telemetry{runs: map[uint64]*run{}}
	if o != nil {
		t.options = *o
	}
	t.options.Provider = cmp.Or(t.options.Provider, "_OTHER")
	if t.options.TracerProvider == nil {
		t.options.TracerProvider = tracers.NewTracerProvider()
	}
	if t.options.MeterProvider == nil {
		t.options.MeterProvider = meters.NewMeterProvider()
	}
	t.tracer = t.options.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
	if err := t.metrics.open(t.options.MeterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))); err != nil {
		return nil, fmt.Errorf("telemetry: the MeterProvider cannot create the metrics: %w", err)
	}
	return t, nil
}

type observedKey struct{ *Telemetry }

// Observe returns a copy of ctx in which t observes all runs of all modules, including the runs that modules and tools
// start. The spans of these runs are children of the span in ctx. The context of each tool call has the span of the
// call, so that the tool's own spans, such as those of an HTTP client, are its children.
func (t *Telemetry) Observe(ctx context.Context) context.Context {
	if ctx.Value(observedKey{t}) != nil {
		return ctx
	}
	ctx = context.WithValue(ctx, observedKey{t}, true)
	return tools.WithPolicies(module.Observe(ctx, t.observe), t.addSpan)
}

// addSpan is a [tools.Policy] that adds the span of a call to the call's context.
func (t *Telemetry) addSpan(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		if r := t.run(effect.RunOf(ctx)); r != nil {
			r.mu.Lock()
			if s := r.calls[c.ID]; s != nil {
				ctx = trace.ContextWithSpan(ctx, s.Span)
			}
			r.mu.Unlock()
		}
		return next.Call(ctx, c)
	})
}

// run returns a run in progress, or nil.
func (t *Telemetry) run(id uint64) *run {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs[id]
}
