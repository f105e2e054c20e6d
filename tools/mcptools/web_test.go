package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools/mcptools/internal/web"
)

const (
	oddResult = `{"structuredContent":{"z":1,"a":9007199254740993,"n":1.50}}`
	oddValue  = `{"z":1,"a":9007199254740993,"n":1.50}`
	oddBlocks = `{"content":[{"type":"hologram","x":12345678901234567890,"b":1,"a":2}]}`
)

// JSON arrives as the server wrote it, over every transport.
func TestRawOverHTTP(t *testing.T) {
	t.Parallel()
	s := script{
		"tools/list": result(`{"tools":[{"name":"t","inputSchema":{"type":"object",` +
			`"properties":{"z":{"const":9007199254740993},"a":{}}}},{"name":"blocks"}]}`),
		"tools/call": func(params json.RawMessage) string {
			if strings.Contains(string(params), "blocks") {
				return `"result":` + oddBlocks
			}
			return `"result":` + oddResult
		},
	}
	pretty := func(w http.ResponseWriter, answer string) {
		w.Header().Set("Content-Type", "Text/Event-Stream; charset=utf-8")
		fmt.Fprint(w, "\ufeff: hello\r\n\r\nretry: 10\r\nevent: ping\r\ndata: {}\r\n\r\ndata\r\n\r\nid: 1\r\ndata:\r\n\r\n")
		for _, part := range strings.SplitAfter(answer, ",") {
			fmt.Fprint(w, "data: "+part+"\r\n")
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, "\r\n")
	}
	for name, h := range map[string]http.Handler{
		"json":       s.handler(asJSON, nil),
		"events":     s.handler(asEvents, nil),
		"odd events": s.handler(pretty, nil), // whose line breaks are the server's own
		"no type": s.handler(func(w http.ResponseWriter,
			a string) {
			w.Header()["Content-Type"] = nil
			fmt.Fprint(w, a)
		}, nil),
		"old sse":      newLegacy(s).handler(),
		"with padding": s.handler(func(w http.ResponseWriter, a string) { asJSON(w, "\n  "+a+"\n") }, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			named := list(t, open(t, ServerConfig{URL: serveWeb(t, h) + "/mcp"}, nil))
			flat := strings.NewReplacer("\n", "")
			equal(t, "schema", flat.Replace(string(named["t"].InputSchema)),
				`{"type":"object","properties":{"z":{"const":9007199254740993},"a":{}}}`)
			equal(t, "structured", flat.Replace(call(t.Context(), named["t"], `{}`)), oddValue)
			equal(t, "blocks", flat.Replace(call(t.Context(), named["blocks"], `{}`)),
				`[{"type":"hologram","x":12345678901234567890,"b":1,"a":2}]`)
		})
	}
}

func sdkServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: req.Params.Arguments}, nil
		})
	return server
}

func TestSDKServersOverHTTP(t *testing.T) {
	leaks(t)
	server := sdkServer()
	get := func(*http.Request) *mcp.Server { return server }
	for _, c := range []struct {
		name, version string
		handler       http.Handler
		path          string
	}{
		{"stateless", "2026-07-28", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}), ""},
		{"stateless, JSON", "2026-07-28", mcp.NewStreamableHTTPHandler(get,
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}), ""},
		{"sessions", "2025-11-25", mcp.NewStreamableHTTPHandler(get, nil), ""},
		{"sessions, JSON", "2025-11-25", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true}),
			""},
		{"sessions with resumption", "2025-11-25",
			mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}), ""},
		{"sse", "2025-11-25", mcp.NewSSEHandler(get, nil), "/sse"},
		{"sse, found out", "2025-11-25", mcp.NewSSEHandler(get, nil), "/"},
		{"streamable at /sse", "2025-11-25", mcp.NewStreamableHTTPHandler(get, nil), "/sse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, ServerConfig{URL: serveWeb(t, c.handler) + c.path}, nil)
			version := s.Status()[0].ProtocolVersion
			if strings.HasPrefix(c.name, "sse") && version == "2026-07-28" {
				version = c.version // the SDK's server may be asked before it knows what it supports over SSE
			}
			equal(t, "version", version, c.version)
			tool := list(t, s)["t"]
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					args := fmt.Sprintf(`{"z":%d,"a":9007199254740993}`, i)
					equal(t, "result", call(t.Context(), tool, args), args)
				})
			}
			all.Wait()
		})
	}
}

// The SDK's transports over HTTP have no limits.
func TestConnectRefusesTransportsOverHTTP(t *testing.T) {
	t.Parallel()
	for _, transport := range []mcp.Transport{&mcp.StreamableClientTransport{}, &mcp.SSEClientTransport{}} {
		_, err := Connect(t.Context(), map[string]mcp.Transport{"s": transport}, nil)
		equal(t, "error", fmt.Sprint(err), `mcp server "s": use Start with its URL instead of a transport over HTTP`)
	}
}

// Arguments are sent as headers if the server wants that.
func TestArgumentsAsHeaders(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	schema := `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(schema)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true})
	sent := make(chan string, 1)
	s := open(t, ServerConfig{URL: serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if region := r.Header.Get("Mcp-Param-Region"); region != "" {
			sent <- region
		}
		handler.ServeHTTP(w, r)
	}))}, nil)
	tool := list(t, s)["t"]
	equal(t, "schema", string(tool.InputSchema), schema)
	equal(t, "result", call(t.Context(), tool, `{"region":"eu"}`), `""`)
	equal(t, "header", <-sent, "eu")
}

// A tool with an invalid x-mcp-header is left out; the others are not.
func TestInvalidArgumentHeaders(t *testing.T) {
	t.Parallel()
	property := func(text string) string {
		return `"inputSchema":{"type":"object","properties":{"x":` + text + `}}`
	}
	listing := `{"tools":[
		{"name":"plain",` + property(`{"type":"string"}`) + `},
		{"name":"good",` + property(`{"type":"string","x-mcp-header":"Region"}`) + `},
		{"name":"space",` + property(`{"type":"string","x-mcp-header":"My Region"}`) + `},
		{"name":"array",` + property(`{"type":"array","x-mcp-header":"Items"}`) + `}]}`
	server := script{"tools/list": result(listing)}
	s := open(t, ServerConfig{URL: serveWeb(t, server.handler(asJSON, nil))}, nil)
	equalLines(t, "tools", slices.Sorted(maps.Keys(list(t, s))), "good", "plain")
	equalLines(t, "warnings", s.Warnings(),
		`mcp server "s": tool "space" is left out because its x-mcp-header is invalid`,
		`mcp server "s": tool "array" is left out because its x-mcp-header is invalid`)
}

// A lost session is recognized in all its forms.
func TestLostSession(t *testing.T) {
	t.Parallel()
	for _, lost := range []struct {
		status int
		body   string
	}{
		{404, ""},
		{404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`},
		{400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`},
		{400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`},
		{400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Session not found"},"id":null}`},
		{400, `Bad Request: No valid session ID provided`}, // Python
		{404, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Session not found"},"id":"server-error"}`},
		{404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":ID}`}, // C#
	} {
		inner := script{}.handler(func(w http.ResponseWriter, a string) {
			w.Header().Set("Mcp-Session-Id", "s3cret-session")
			asJSON(w, a)
		}, func(w http.ResponseWriter, r *http.Request, msg request) {
			if r.Header.Get("Mcp-Session-Id") != "s3cret-session" {
				t.Errorf("session %q", r.Header.Get("Mcp-Session-Id"))
			}
			w.WriteHeader(lost.status)
			_, _ = io.WriteString(w, strings.ReplaceAll(lost.body, "ID}", string(msg.ID)+"}"))
		})
		s := open(t, ServerConfig{URL: serveWeb(t, inner)}, nil)
		_, err := list(t, s)["t"].Handler(t.Context(), nil)
		if !errors.Is(err, mcp.ErrSessionMissing) {
			t.Errorf("%v: %v", lost, err)
		}
		if strings.Contains(fmt.Sprint(errors.Unwrap(err), s.Status()), "s3cret") {
			t.Errorf("the session's ID is reported: %v", err)
		}
	}
}

func TestLegacyFailuresEndNoSession(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	l := newLegacy(script{"tools/call": result(oddResult)})
	l.post = func(w http.ResponseWriter, _ *http.Request, msg request) bool {
		if msg.Method == "tools/call" && calls.Add(1) == 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return false
	}
	s := open(t, ServerConfig{URL: serveWeb(t, l.handler()), Type: web.SSE}, nil)
	tool := list(t, s)["t"]
	equal(t, "refused", call(t.Context(), tool, `{}`),
		"unavailable: the tool's server refused the credentials; the call was not made")
	equal(t, "the next", call(t.Context(), tool, `{}`), oddValue)
}

func TestLegacyEndpointElsewhere(t *testing.T) {
	t.Parallel()
	l := newLegacy(nil)
	l.endpoint = "http://attacker.example/messages?token=s3cret"
	equal(t, "error", fails(t, ServerConfig{URL: serveWeb(t, l.handler()), Type: web.SSE}, nil),
		`mcp server "s": handshake: missing endpoint: error reading event: it expects messages at `+
			`http://attacker.example, but its headers are sent only to its own origin; if that is the right server, use its URL in the `+
			`configuration`)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
