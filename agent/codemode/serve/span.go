package serve

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

var traceContext propagation.TraceContext

// span starts the span of a tool call. Other requests have no span.
func (m *meters) span(ctx context.Context, method string, r mcp.Request) (context.Context, trace.Span) {
	call, ok := r.(*mcp.CallToolRequest)
	if !ok || call.Params == nil || m.tracer == nil {
		return ctx, noop.Span{}
	}
	list := []attribute.KeyValue{semconv.McpMethodNameKey.String(method), m.transport}
	if id := call.Session.ID(); id != "" {
		list = append(list, semconv.McpSessionID(id))
	}
	version := ""
	if call.Extra != nil && call.Extra.Header != nil {
		version, ctx = call.Extra.Header.Get("Mcp-Protocol-Version"), withTraceOf(ctx, call.Extra.Header)
		list = append(list, semconv.NetworkProtocolName("http"))
	} else if p := call.Session.InitializeParams(); p != nil {
		version = p.ProtocolVersion
	}
	if version != "" {
		list = append(list, semconv.McpProtocolVersion(version))
	}
	outer, meta := trace.LinkFromContext(ctx), propagation.MapCarrier{}
	for _, key := range traceContext.Fields() {
		meta[key], _ = call.Params.Meta[key].(string)
	}
	ctx = traceContext.Extract(ctx, meta)
	var links []trace.Link
	if !outer.SpanContext.Equal(trace.SpanContextFromContext(ctx)) {
		links = []trace.Link{outer}
	}
	return m.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(list...),
		trace.WithLinks(links...))
}

// endSpan ends a span. The span has no texts of errors, because they may have contents.
func endSpan(span trace.Span, list []attribute.KeyValue) {
	for _, a := range list {
		switch a.Key {
		case semconv.GenAIToolNameKey:
			span.SetName("tools/call " + a.Value.AsString())
		case semconv.ErrorTypeKey:
			span.SetStatus(codes.Error, "")
		}
	}
	span.SetAttributes(list...)
	span.End()
}

// withoutSpan returns a context that belongs to no span.
func withoutSpan(ctx context.Context) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.SpanContext{})
}

// withTrace writes the span of a request's context, such as that of the host's middleware, into the request's headers.
// The SDK passes the headers of every request on, but in the older protocols, its contexts are those of the session.
func withTrace(r *http.Request) *http.Request {
	if !trace.SpanContextFromContext(r.Context()).IsValid() {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del("tracestate")
	traceContext.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	return r
}

// withTraceOf returns a context with the span in the headers of a request. If ctx has that span already, it is kept.
func withTraceOf(ctx context.Context, h http.Header) context.Context {
	remote := traceContext.Extract(withoutSpan(ctx), propagation.HeaderCarrier(h))
	if trace.SpanContextFromContext(ctx).WithRemote(true).Equal(trace.SpanContextFromContext(remote)) {
		return ctx
	}
	return remote
}
