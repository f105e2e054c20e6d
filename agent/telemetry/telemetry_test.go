package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/telemetry"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
)

type question struct {
	Question string `json:"question"`
}

type number struct {
	N int `json:"n"`
}

func ask(ctx context.Context, t *testing.T) {
	t.Helper()
	sig := signature.Must(signature.New[question, number]("Count."))
	if _, err := module.NewPredict(sig, llmtest.New(reply), nil).Run(ctx, question{"How many?"}); err != nil {
		t.Fatal(err)
	}
}

const reply = "[[ ## n ## ]]\n2\n\n[[ ## completed ## ]]"

// TestLogger logs spans, which without a TracerProvider have the IDs of the caller's span.
func TestLogger(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	observer, err := telemetry.New(&telemetry.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	caller := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	ctx := observer.Observe(trace.ContextWithSpanContext(t.Context(), caller))
	ask(observer.Observe(ctx), t) // which observes already
	var names []string
	for line := range strings.Lines(log.String()) {
		var record struct {
			Msg     string `json:"msg"`
			TraceID string `json:"trace_id"`
			SpanID  string `json:"span_id"`
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if record.TraceID != caller.TraceID().String() || record.SpanID != caller.SpanID().String() {
			t.Errorf("the record has other IDs: %s", line)
		}
		names = append(names, record.Msg)
	}
	if got := strings.Join(names, ", "); got != "chat, step, invoke_agent Predict" {
		t.Errorf("got %s", got)
	}
}

// TestRemoteParent has a run within a run whose caller's span is in another process.
func TestRemoteParent(t *testing.T) {
	t.Parallel()
	observer, err := telemetry.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	remote := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	ctx := observer.Observe(trace.ContextWithRemoteSpanContext(t.Context(), remote))
	sig := signature.Must(signature.New[question, number]("Count."))
	perfect := func(context.Context, question, *module.Prediction[number]) (module.Score, error) {
		return module.Score{Value: 1}, nil
	}
	best := module.NewBestOfN(module.NewPredict(sig, llmtest.New(reply), nil), 1, perfect, 1, nil)
	if _, err := best.Run(ctx, question{"How many?"}); err != nil {
		t.Fatal(err)
	}
}

// TestPanic has another observer that panics. All spans end nevertheless.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	observer, err := telemetry.New(&telemetry.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	other := module.Observe(t.Context(), func(context.Context, event.Event) { panic("no") })
	sig := signature.Must(signature.New[question, number]("Count."))
	_, err = module.NewPredict(sig, llmtest.New(reply), nil).Run(observer.Observe(other), question{"How many?"})
	if err == nil || !strings.Contains(log.String(), "invoke_agent Predict") {
		t.Errorf("got %v, and the log\n%s", err, log.String())
	}
}

// TestObserveLate begins to observe within a run, of which only later runs are reported.
func TestObserveLate(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	observer, err := telemetry.New(&telemetry.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	begun := false
	outer := module.Observe(t.Context(), func(ctx context.Context, e event.Event) {
		if _, ok := e.(event.ModelRequest); ok && !begun {
			begun = true
			ask(observer.Observe(ctx), t)
		}
	})
	ask(outer, t)
	if n := strings.Count(log.String(), "invoke_agent"); n != 1 {
		t.Errorf("%d runs are logged, want 1:\n%s", n, log.String())
	}
}

type failing struct{ noop.MeterProvider }

// Meter implements [metric.MeterProvider].
func (failing) Meter(string, ...metric.MeterOption) metric.Meter { return failingMeter{} }

type failingMeter struct{ noop.Meter }

// Float64Histogram implements [metric.Meter].
func (failingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return noop.Float64Histogram{}, errors.New("no histograms")
}

// TestNoMetrics has a MeterProvider that cannot create the metrics.
func TestNoMetrics(t *testing.T) {
	t.Parallel()
	_, err := telemetry.New(&telemetry.Options{MeterProvider: failing{}})
	want := "telemetry: the MeterProvider cannot create the metrics: no histograms"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := telemetry.New(nil); err != nil {
		t.Error(err)
	}
}
