package serve

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/httpconv"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
	"go.opentelemetry.io/otel/trace"
)

// bounds are the upper bounds of the histograms' buckets, in seconds.
var bounds = metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

const scope = "github.com/writ-go/writ/agent/codemode/serve"

func meterOf(p metric.MeterProvider) metric.Meter {
	p = cmp.Or[metric.MeterProvider](p, noop.NewMeterProvider())
	return p.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
}

// meters are the metrics and spans of a transport. The attributes of metrics have bounded sets of values, so that
// clients cannot fill the memory with their own values. Errors are ignored, because all names and units are valid.
type meters struct {
	requests   httpconv.ServerRequestDuration
	open       httpconv.ServerActiveRequests
	operations mcpconv.ServerOperationDuration
	ended      mcpconv.ServerSessionDuration
	sessions   metric.Int64UpDownCounter
	transport  attribute.KeyValue
	tracer     trace.Tracer // nil means no spans
}

func newMeters(o *Options) *meters {
	meter, m := meterOf(o.MeterProvider), &meters{transport: semconv.NetworkTransportTCP}
	if o.Transport == Stdio {
		m.transport = semconv.NetworkTransportPipe
	}
	if o.TracerProvider != nil {
		m.tracer = o.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
	}
	m.requests, _ = httpconv.NewServerRequestDuration(meter, bounds)
	m.open, _ = httpconv.NewServerActiveRequests(meter)
	m.operations, _ = mcpconv.NewServerOperationDuration(meter, bounds)
	m.ended, _ = mcpconv.NewServerSessionDuration(meter, bounds)
	m.sessions, _ = meter.Int64UpDownCounter("writ.mcp.server.sessions", metric.WithUnit("{session}"),
		metric.WithDescription("Sessions of clients of the older protocols."))
	return m
}

// begin counts an HTTP request. It returns a function that records the request's end.
func (m *meters) begin(r *http.Request) (end func(route string, status int, took time.Duration)) {
	method, scheme := r.Method, "http"
	if !slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}, method) {
		method = "_OTHER"
	}
	if r.TLS != nil {
		scheme = "https"
	}
	list := []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(method), semconv.URLScheme(scheme)}
	ctx, open := context.WithoutCancel(r.Context()), attribute.NewSet(list...)
	m.open.AddSet(ctx, 1, open)
	return func(route string, status int, took time.Duration) {
		m.open.AddSet(ctx, -1, open)
		list = append(list, semconv.HTTPResponseStatusCode(status))
		if route != "" {
			list = append(list, semconv.HTTPRoute(route))
		}
		m.requests.RecordSet(ctx, took.Seconds(), attribute.NewSet(list...))
	}
}

// operation records a request or notification of the protocol, and ends its span. The attributes have only methods that
// the SDK knows, and tools that exist: calls of other tools return an error.
func (m *meters) operation(
	ctx context.Context, span trace.Span, began time.Time, method string, r mcp.Request, result mcp.Result, err error,
) {
	list := []attribute.KeyValue{semconv.McpMethodNameKey.String(method), m.transport}
	if call, ok := r.(*mcp.CallToolRequest); ok {
		if list = append(list, semconv.GenAIOperationNameExecuteTool); err == nil {
			list = append(list, semconv.GenAIToolName(call.Params.Name))
			span.SetName(method + " " + call.Params.Name)
		}
	}
	known := len(list)
	failure, coded := errors.AsType[*jsonrpc.Error](err)
	switch answer, ok := result.(*mcp.CallToolResult); {
	case coded:
		code := strconv.FormatInt(failure.Code, 10)
		list = append(list, semconv.ErrorTypeKey.String(code), semconv.RPCResponseStatusCode(code))
	case err != nil:
		list = append(list, semconv.ErrorTypeOther)
	case ok && answer != nil && answer.IsError:
		list = append(list, semconv.ErrorTypeKey.String("tool_error"))
	}
	if len(list) > known {
		span.SetStatus(codes.Error, "") // the text of the error may have contents
	}
	span.SetAttributes(list...)
	span.End()
	m.operations.RecordSet(ctx, time.Since(began).Seconds(), attribute.NewSet(list...))
}

// session counts a session. It returns a function that records the session's end.
func (m *meters) session() (end func()) {
	began, ctx := time.Now(), context.Background()
	m.sessions.Add(ctx, 1)
	return func() {
		m.sessions.Add(ctx, -1)
		m.ended.RecordSet(ctx, time.Since(began).Seconds(), attribute.NewSet(m.transport))
	}
}
