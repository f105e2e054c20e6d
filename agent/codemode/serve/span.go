package serve

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// span starts the span of a tool call. Other requests have no span. The parent is the span in the client's _meta or,
// without it, the span in ctx or, without both, the span in the headers.
func (m *meters) span(ctx context.Context, method string, r mcp.Request) (context.Context, trace.Span) {
	call, ok := r.(*mcp.CallToolRequest)
	if !ok || m.tracer == nil {
		return ctx, noop.Span{}
	}
	var w3c propagation.TraceContext
	list, version := []attribute.KeyValue{semconv.McpMethodNameKey.String(method), m.transport}, ""
	if call.Extra != nil && call.Extra.Header != nil {
		list = append(list, semconv.NetworkProtocolName("http"))
		version = call.Extra.Header.Get("Mcp-Protocol-Version")
		if !trace.SpanContextFromContext(ctx).IsValid() {
			ctx = w3c.Extract(ctx, propagation.HeaderCarrier(call.Extra.Header))
		}
	} else if p := call.Session.InitializeParams(); p != nil {
		version = p.ProtocolVersion
	}
	if version != "" {
		list = append(list, semconv.McpProtocolVersion(version))
	}
	if id := call.Session.ID(); id != "" {
		list = append(list, semconv.McpSessionID(id))
	}
	meta, links := propagation.MapCarrier{}, []trace.Link{trace.LinkFromContext(ctx)}
	for _, key := range w3c.Fields() {
		meta[key], _ = call.Params.Meta[key].(string)
	}
	if ctx = w3c.Extract(ctx, meta); links[0].SpanContext.Equal(trace.SpanContextFromContext(ctx)) {
		links = nil
	}
	return m.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(list...),
		trace.WithLinks(links...))
}

// withoutSpan returns a context that belongs to no span. A span in the context of a whole server or session is not the
// parent of its calls.
func withoutSpan(ctx context.Context) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.SpanContext{})
}
