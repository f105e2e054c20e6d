package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is an OTLP receiver in this process.
type receiver struct {
	t       *testing.T
	mu      sync.Mutex
	spans   []*traces.Span
	metrics []*metrics.Metric
	schemas []string // of everything that was received
}

// newReceiver starts a receiver, and makes it the destination of the exporters that autoexport returns.
func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	t.Setenv("OTEL_METRICS_EXPORTER", "otlp")
	return r
}

// ServeHTTP implements [http.Handler].
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch request.URL.Path {
	case "/v1/traces":
		var m collectortraces.ExportTraceServiceRequest
		err = proto.Unmarshal(body, &m)
		for _, resource := range m.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				r.spans, r.schemas = append(r.spans, scope.GetSpans()...), append(r.schemas, scope.GetSchemaUrl())
			}
		}
	case "/v1/metrics":
		var m collectormetrics.ExportMetricsServiceRequest
		err = proto.Unmarshal(body, &m)
		for _, resource := range m.GetResourceMetrics() {
			for _, scope := range resource.GetScopeMetrics() {
				r.metrics, r.schemas = append(r.metrics, scope.GetMetrics()...), append(r.schemas, scope.GetSchemaUrl())
			}
		}
	default:
		r.t.Errorf("%s was requested", request.URL.Path)
	}
	if err != nil {
		r.t.Error(err)
	}
}

// providers returns providers that export to the receiver, and a function that exports what is left.
func (r *receiver) providers() (tracers *trace.TracerProvider, meters *metric.MeterProvider, shutdown func()) {
	ctx := context.Background()
	spans, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	reader, err := autoexport.NewMetricReader(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	tracers = trace.NewTracerProvider(trace.WithBatcher(spans))
	meters = metric.NewMeterProvider(metric.WithReader(reader))
	return tracers, meters, func() {
		if err := tracers.Shutdown(ctx); err != nil {
			r.t.Error(err)
		}
		if err := meters.Shutdown(ctx); err != nil {
			r.t.Error(err)
		}
	}
}

// tree returns the spans that have no parent among them, each with its children below it. Children are sorted by their
// text, since some of them ran in parallel. The values of attributes in vary are omitted.
func (r *receiver) tree(vary ...string) string {
	known := map[string]bool{}
	for _, s := range r.spans {
		known[string(s.GetSpanId())] = true
	}
	var below func(parent string, margin string) string
	below = func(parent, margin string) string {
		var list []string
		for _, s := range r.spans {
			p := string(s.GetParentSpanId())
			if p != parent && (parent != "" || known[p]) {
				continue
			}
			text := fmt.Sprintf("%s%s [%s]%s%s\n", margin, s.GetName(),
				strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_")), status(s),
				encode(s.GetAttributes(), vary))
			for _, e := range s.GetEvents() {
				text += fmt.Sprintf("%s  event %s%s\n", margin, e.GetName(), encode(e.GetAttributes(), vary))
			}
			list = append(list, text+below(string(s.GetSpanId()), margin+"  "))
		}
		slices.Sort(list)
		return strings.Join(list, "")
	}
	return below("", "")
}

func status(s *traces.Span) string {
	if s.GetStatus().GetCode() != traces.Status_STATUS_CODE_ERROR {
		return ""
	}
	return fmt.Sprintf(" error(%q)", s.GetStatus().GetMessage())
}

func encode(list []*common.KeyValue, vary []string) string {
	var all []string
	for _, a := range list {
		text := "…"
		if !slices.Contains(vary, a.GetKey()) {
			text = value(a.GetValue())
		}
		all = append(all, " "+a.GetKey()+"="+text)
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func value(v *common.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return fmt.Sprintf("%q", v.StringValue)
	case *common.AnyValue_ArrayValue:
		var all []string
		for _, e := range v.ArrayValue.GetValues() {
			all = append(all, value(e))
		}
		return "[" + strings.Join(all, ",") + "]"
	case *common.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *common.AnyValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue)
	}
	return fmt.Sprint(v)
}

// table returns the metrics, with their units, and the number of measurements for each set of attributes.
func (r *receiver) table() string {
	var list []string
	for _, m := range r.metrics {
		for _, p := range points(m) {
			attributes := encode(p.attributes, nil)
			list = append(list, fmt.Sprintf("%s %s%s: %s\n", m.GetName(), m.GetUnit(), attributes, p.number))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

type point struct {
	attributes []*common.KeyValue
	number     string
}

func points(m *metrics.Metric) (list []point) {
	for _, p := range m.GetHistogram().GetDataPoints() {
		list = append(list, point{p.GetAttributes(), fmt.Sprint(p.GetCount(), " measured")})
	}
	for _, p := range m.GetSum().GetDataPoints() {
		list = append(list, point{p.GetAttributes(), fmt.Sprint(p.GetAsInt())})
	}
	return list
}
