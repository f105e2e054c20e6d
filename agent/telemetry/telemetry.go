// Package telemetry makes OpenTelemetry traces and metrics from the events of runs:
//
//	t, err := telemetry.New(&telemetry.Options{TracerProvider: tracers, MeterProvider: meters})
//	…
//	pred, err := bot.Run(t.Observe(ctx), agent.Task{Task: "…"})
//
// The names follow version 1.41.0 of the OpenTelemetry semantic conventions for generative AI
// (https://opentelemetry.io/schemas/1.41.0); names that the conventions lack begin with "writ.". docs/telemetry.md
// lists them. This package needs only OpenTelemetry's API; examples/telemetry has an SDK and exporters.
package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"go.opentelemetry.io/otel/metric"
	meters "go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
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

	// Contents adds prompts, replies, programs, arguments, results and the text of errors to the spans. They may be
	// large, and contain personal data. Metrics and log records never contain them.
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

// New returns a Telemetry. It returns an error if the MeterProvider cannot create the metrics.
func New(o *Options) (*Telemetry, error) {
	const scope = "github.com/writ-go/writ/agent/telemetry"
	t := &Telemetry{runs: map[uint64]*run{}}
	if o != nil {
		t.options = *o
	}
	t.options.Provider = cmp.Or(t.options.Provider, "_OTHER")
	tracing := cmp.Or[trace.TracerProvider](t.options.TracerProvider, tracers.NewTracerProvider())
	t.tracer = tracing.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
	measuring := cmp.Or[metric.MeterProvider](t.options.MeterProvider, meters.NewMeterProvider())
	if err := t.metrics.open(measuring.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))); err != nil {
		return nil, fmt.Errorf("telemetry: the MeterProvider cannot create the metrics: %w", err)
	}
	return t, nil
}

// instruments are the metrics. The values of their attributes are the names of models, modules and tools, and kinds of
// errors, so that their number is bounded.
type instruments struct {
	tokens                      metric.Int64Histogram
	operations, calls, programs metric.Float64Histogram
}

// open creates the instruments. The bounds of the buckets are those that the conventions recommend.
func (i *instruments) open(m metric.Meter) error {
	bounds := metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24,
		20.48, 40.96, 81.92)
	usage, err1 := genaiconv.NewClientTokenUsage(m, metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096,
		16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	operations, err2 := genaiconv.NewClientOperationDuration(m, bounds)
	calls, err3 := m.Float64Histogram("writ.tool.call.duration", bounds, metric.WithUnit("s"),
		metric.WithDescription("Duration of tool calls, except those that the journal answered."))
	programs, err4 := m.Float64Histogram("writ.program.duration", bounds, metric.WithUnit("s"),
		metric.WithDescription("Duration of programs, including their check and their tool calls."))
	*i = instruments{usage.Inst(), operations.Inst(), calls, programs}
	return errors.Join(err1, err2, err3, err4)
}

type observedKey struct{ *Telemetry }

// Observe returns a copy of ctx in which t observes all runs of all modules, including the runs that modules and tools
// start, and the tool calls of programs that no module runs. Their spans are children of the span in ctx. The context
// of each tool call has the span of the call, so that the tool's own spans, such as those of an HTTP client, are its
// children, and so are those of an MCP server that continues the trace.
func (t *Telemetry) Observe(ctx context.Context) context.Context {
	if ctx.Value(observedKey{t}) != nil {
		return ctx
	}
	ctx = context.WithValue(ctx, observedKey{t}, true)
	return tools.WithPolicies(module.Observe(ctx, t.observe), t.addSpan)
}

// addSpan is a [tools.Policy] that adds the span of a call to the call's context.
func (t *Telemetry) addSpan(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (result json.RawMessage, err error) {
		var s *span
		if r := t.run(effect.RunOf(ctx)); r != nil {
			r.mu.Lock()
			s = r.calls[c.ID]
			r.mu.Unlock()
		} else { // no module runs the program, so there are no events of its calls
			call := sandbox.Call{ID: c.ID, Tool: c.Tool.Path(), Args: c.Args}
			s = t.callStart(ctx, time.Now(), call)
			defer func() {
				if call.Result = result; err != nil && !errors.As(err, &call.Error) {
					call.Error = &tools.ToolError{Message: err.Error()}
				}
				t.callEnd(s, time.Now(), call)
			}()
		}
		if s != nil {
			ctx = effect.WithReport(trace.ContextWithSpan(ctx, s.Span), func(r effect.Request) {
				if r.Server == c.Tool.Namespace && r.Tool == c.Tool.Name { // not if the tool calls other tools
					s.SetAttributes(nonZero(clientAttributes(r)...)...)
				}
			})
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
