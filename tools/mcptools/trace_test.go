package mcptools

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/internal/effect"
	"go.opentelemetry.io/otel/trace"
)

// A call sends the trace context in its _meta and its headers, unless the caller sets them. Other requests have none.
func TestTraceContext(t *testing.T) {
	t.Parallel()
	state, err := trace.ParseTraceState("a=b")
	if err != nil {
		t.Fatal(err)
	}
	span := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state,
	})
	traced := trace.ContextWithSpanContext(t.Context(), span)
	const want = "00-01000000000000000000000000000000-0200000000000000-01 a=b"
	for _, c := range []struct {
		ctx        context.Context
		headers    map[string]string
		meta, head string
	}{
		{traced, nil, want, want},
		{t.Context(), nil, " ", " "},
		{traced, map[string]string{"traceparent": "own"}, want, "own "},
	} {
		var mu sync.Mutex
		var meta, head, others string
		h := script{}.handler(asJSON, func(w http.ResponseWriter, r *http.Request, msg request) {
			var params struct {
				Meta map[string]any `json:"_meta"`
			}
			_ = json.Unmarshal(msg.Params, &params)
			text := func(key string) string { s, _ := params.Meta[key].(string); return s }
			mu.Lock()
			defer mu.Unlock()
			meta = text("traceparent") + " " + text("tracestate")
			head = r.Header.Get("traceparent") + " " + r.Header.Get("tracestate")
			asJSON(w, `{"jsonrpc":"2.0","id":`+string(msg.ID)+`,"result":{"content":[]}}`)
		})
		address := serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			before := meta
			mu.Unlock()
			h.ServeHTTP(w, r)
			mu.Lock()
			defer mu.Unlock()
			if before == meta { // not the call
				others += r.Header.Get("traceparent")
			}
		}))
		servers, err := Start(traced, &Config{Servers: []ServerConfig{{Name: "s", URL: address, Headers: c.headers}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := servers.Tools(traced)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := all[0].Handler(c.ctx, nil); err != nil {
			t.Error(err)
		}
		servers.Close()
		mu.Lock()
		equal(t, "_meta", meta, c.meta)
		equal(t, "headers", head, c.head)
		equal(t, "headers of other requests", strings.ReplaceAll(others, "own", ""), "")
		mu.Unlock()
	}
}

// Only requests that were sent are reported.
func TestReport(t *testing.T) {
	t.Parallel()
	servers := open(t, ServerConfig{URL: serveWeb(t, script{"tools/call": func(json.RawMessage) string {
		return `"error":{"code":-32000,"message":"no"}`
	}}.handler(asJSON, nil)) + "/secret"}, nil)
	tool := list(t, servers)["t"]
	for args, want := range map[string]string{`{}`: "s t true -32000 http", `{`: ""} {
		got := ""
		ctx := effect.WithReport(t.Context(), func(r effect.Request) {
			got += strings.Join([]string{r.Server, r.Tool, strconv.FormatBool(r.ID > "0"), r.Code, r.URL.Scheme}, " ")
		})
		if _, err := tool.Handler(ctx, json.RawMessage(args)); err == nil {
			t.Errorf("%s: no error", args)
		}
		equal(t, args, got, want)
	}
}
