package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools/mcptools/internal/config"
)

const (
	oddResult = `{"structuredContent":{"z":1,"a":9007199254740993,"n":1.50}}`
	oddValue  = `{"text":"","data":{"z":1,"a":9007199254740993,"n":1.50}}`
	oddBlocks = `{"content":[{"type":"hologram","x":12345678901234567890,"b":1,"a":2}]}`
)

// What the server wrote arrives as it wrote it, over every transport.
func TestRawOverHTTP(t *testing.T) {
	t.Parallel()
	s := script{
		"tools/list": result(`{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"z":{"const":9007199254740993},"a":{}}}},{"name":"blocks"}]}`),
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
		"no type":    s.handler(func(w http.ResponseWriter, a string) { w.Header()["Content-Type"] = nil; fmt.Fprint(w, a) }, nil),
		"batch": s.handler(func(w http.ResponseWriter, a string) {
			asJSON(w, `[{"jsonrpc":"2.0","method":"notifications/x"},`+a+`]`)
		}, nil),
		"old sse":      newLegacy(s).handler(),
		"with padding": s.handler(func(w http.ResponseWriter, a string) { asJSON(w, "\n  "+a+"\n") }, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			named := list(t, open(t, ServerConfig{URL: serveWeb(t, h) + "/mcp"}, nil))
			flat := strings.NewReplacer("\n", "")
			equal(t, "schema", flat.Replace(string(named["t"].InputSchema)), `{"type":"object","properties":{"z":{"const":9007199254740993},"a":{}}}`)
			equal(t, "structured", flat.Replace(call(t.Context(), named["t"], `{}`)), oddValue)
			equal(t, "blocks", flat.Replace(call(t.Context(), named["blocks"], `{}`)), `[{"type":"hologram","x":12345678901234567890,"b":1,"a":2}]`)
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
		{"stateless, JSON", "2026-07-28", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}), ""},
		{"sessions", "2025-11-25", mcp.NewStreamableHTTPHandler(get, nil), ""},
		{"sessions, JSON", "2025-11-25", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{JSONResponse: true}), ""},
		{"sessions with resumption", "2025-11-25", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}), ""},
		{"sse", "2025-11-25", mcp.NewSSEHandler(get, nil), "/sse"},
		{"sse, found out", "2025-11-25", mcp.NewSSEHandler(get, nil), "/"},
		{"streamable at /sse", "2025-11-25", mcp.NewStreamableHTTPHandler(get, nil), "/sse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, ServerConfig{URL: serveWeb(t, c.handler) + c.path}, nil)
			equal(t, "version", s.Status()[0].ProtocolVersion, c.version)
			tool := list(t, s)["t"]
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					args := fmt.Sprintf(`{"z":%d,"a":9007199254740993}`, i)
					equal(t, "result", call(t.Context(), tool, args), `{"text":"","data":`+args+`}`)
				})
			}
			all.Wait()
		})
	}
}

// Transports that the host made are tapped as well.
func TestConnectOverHTTPIsRaw(t *testing.T) {
	t.Parallel()
	s := script{"tools/call": result(oddBlocks)}
	for name, transport := range map[string]mcp.Transport{
		"streamable": &mcp.StreamableClientTransport{Endpoint: serveWeb(t, s.handler(asEvents, nil))},
		"sse":        &mcp.SSEClientTransport{Endpoint: serveWeb(t, newLegacy(s).handler())},
	} {
		servers, err := Connect(t.Context(), map[string]mcp.Transport{"s": transport}, nil)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name, call(t.Context(), list(t, servers)["t"], `{}`), `[{"type":"hologram","x":12345678901234567890,"b":1,"a":2}]`)
		if err := servers.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Whatever a server answers to one call, the next works.
func TestBadAnswersOverHTTP(t *testing.T) {
	t.Parallel()
	const unclear = "unknown: the connection to the tool's server was lost; whether the call took effect is unknown"
	type respond = func(http.ResponseWriter, *http.Request, request)
	status := func(code int, body string) respond {
		return func(w http.ResponseWriter, _ *http.Request, _ request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	typed := func(contentType, body string) respond {
		return func(w http.ResponseWriter, _ *http.Request, msg request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", string(msg.ID)))
		}
	}
	endless := func(contentType, start string) respond {
		return func(w http.ResponseWriter, r *http.Request, msg request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, strings.ReplaceAll(start, "ID", string(msg.ID)))
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		}
	}
	hangUp := func(w http.ResponseWriter, _ *http.Request, _ request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_ = conn.Close()
	}
	for _, c := range []struct {
		name    string
		respond respond
		want    string
	}{
		{"an HTML page", typed("text/html", "<h1>Welcome</h1>"), "unknown: the response is not an MCP message; whether the call took effect is unknown"},
		{"no JSON", typed("application/json", "fine"), "invalid_result: the call was made, but its response cannot be read"},
		{"the answer to another call", typed("application/json", `{"jsonrpc":"2.0","id":999,"result":{}}`), "invalid_result: the call was made, but its response cannot be read"},
		{"a batch without the answer", typed("application/json", `[]`), "invalid_result: the call was made, but its response cannot be read"},
		{"no JSON in an event", typed("text/event-stream", "data: fine\n\n"), "invalid_result: the call was made, but its response cannot be read"},
		{"a stream without the answer", typed("text/event-stream", ": none\n\n"), unclear},
		{"an event that is not complete", typed("text/event-stream", `data: {"jsonrpc":"2.0","id":ID,"result":{}}`), unclear},
		{"an endless body", endless("application/json", ``), "too_large: the call was made, but the response has more than 100000 bytes, which is the limit; ask for less"},
		{"too much in an event", func(w http.ResponseWriter, _ *http.Request, msg request) {
			asEvents(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, msg.ID, strings.Repeat("x", 200_000)))
		}, "too_large: the call was made, but the response has 200073 bytes; the limit is 100000; ask for less"},
		{"more after the answer", endless("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[]}}\n\ndata: "), `""`},
		{"an answer cut short", func(w http.ResponseWriter, _ *http.Request, _ request) {
			w.Header().Set("Content-Length", "100")
			asJSON(w, `{"jsonrpc":`)
		}, unclear},
		{"the connection closed", hangUp, unclear},
		{"401", status(401, "no token"), "unavailable: the tool's server refused the credentials; the call was not made"},
		{"403", status(403, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}`), "unavailable: the tool's server denied access; the call was not made"},
		{"404", status(404, "not here"), "unavailable: the tool's server refused the request (404 Not Found); the call was not made"},
		{"429", status(429, ""), "unavailable: the tool's server got too many requests; the call was not made"},
		{"500", status(500, "oops"), "unknown: the tool's server failed (500 Internal Server Error); whether the call took effect is unknown"},
		{"502 with a page", status(502, "<html>"), "unknown: the tool's server failed (502 Bad Gateway); whether the call took effect is unknown"},
		{"400 with a JSON-RPC error", status(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad input","data":{"at":1}}}`), `invalid_arguments: bad input {"at":1}`},
		{"500 with a JSON-RPC error", status(500, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"broken"}}`), `failed: broken`},
		{"a redirect of a POST", func(w http.ResponseWriter, r *http.Request, _ request) {
			http.Redirect(w, r, "/other", http.StatusFound)
		}, "unknown: the tool's server redirects elsewhere; whether the call took effect is unknown"},
		{"a result elsewhere", func(w http.ResponseWriter, r *http.Request, _ request) {
			http.Redirect(w, r, "/other", http.StatusSeeOther)
		}, "unknown: the tool's server redirects elsewhere; whether the call took effect is unknown"},
		{"a redirect to another origin", func(w http.ResponseWriter, r *http.Request, _ request) {
			http.Redirect(w, r, "http://other.example/", http.StatusTemporaryRedirect)
		}, "unavailable: the tool's server redirects elsewhere; the call was not made"},
		{"304", status(304, ""), "unknown: the tool's server did not accept the request (304 Not Modified); whether the call took effect is unknown"},
		{"400", status(400, ""), "unknown: the tool's server did not accept the request (400 Bad Request); whether the call took effect is unknown"},
		{"408", status(408, ""), "unknown: the tool's server did not accept the request (408 Request Timeout); whether the call took effect is unknown"},
		{"409", status(409, ""), "unknown: the tool's server did not accept the request (409 Conflict); whether the call took effect is unknown"},
		{"413", status(413, ""), "unavailable: the tool's server refused the request (413 Request Entity Too Large); the call was not made"},
		{"499", status(499, ""), "unknown: the tool's server did not accept the request (499); whether the call took effect is unknown"},
		{"a redirect loop", func(w http.ResponseWriter, r *http.Request, _ request) {
			http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
		}, "unavailable: the tool's server redirects in a loop; the call was not made"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, send := range []func(http.ResponseWriter, string){asJSON, asEvents} {
				var calls atomic.Int32
				h := script{}.handler(send, func(w http.ResponseWriter, r *http.Request, msg request) {
					if calls.Add(1) > 1 && !strings.Contains(c.name, "loop") || calls.Load() > 6 {
						send(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":"again"}}`, msg.ID))
						return
					}
					c.respond(w, r, msg)
				})
				s := open(t, ServerConfig{URL: serveWeb(t, h) + "/mcp"}, &Options{MaxMessage: 100_000})
				tool := list(t, s)["t"]
				equal(t, "answer", call(t.Context(), tool, `{}`), c.want)
				equal(t, "the next", call(t.Context(), tool, `{}`), `{"text":"","data":"again"}`)
				equal(t, "restarts", fmt.Sprint(s.Status()[0].Restarts, " ", s.Status()[0].LastErr), "0 <nil>")
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(script{}.handler(asJSON, nil))
	// Nobody else is given a port of this address, when it is free again.
	if own, err := net.Listen("tcp", "127.36.71.4:0"); err == nil {
		_ = web.Listener.Close()
		web.Listener = own
	}
	web.Start()
	// No connection is kept: of one that ends at this moment nobody knows what went over it.
	alone := &Options{HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	s := open(t, ServerConfig{URL: web.URL}, alone)
	tool := list(t, s)["t"]
	web.Close()
	equal(t, "call", call(t.Context(), tool, `{}`), "unavailable: the tool's server cannot be reached; the call was not made")

	address := strings.TrimPrefix(web.URL, "http://")
	equal(t, "connecting", fails(t, ServerConfig{URL: web.URL}, alone),
		`mcp server "s": it cannot be reached; check that it is running and that the URL is right: dial tcp `+address+`: connect: connection refused`)
}

// severed is a connection over which nothing goes any more, once over is true.
type severed struct {
	net.Conn
	over *atomic.Bool
}

func (c severed) Write(p []byte) (int, error) {
	if c.over.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

// Connections that were kept turn out to be dead, and there is no other: nothing has
// been sent.
func TestUnreachableOverKeptConnections(t *testing.T) {
	t.Parallel()
	var over atomic.Bool
	o := &Options{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if over.Load() {
			return nil, errors.New("no route")
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return severed{conn, &over}, err
	}}}}
	s := open(t, ServerConfig{URL: serveWeb(t, script{}.handler(asJSON, nil))}, o)
	tool := list(t, s)["t"]
	over.Store(true)
	equal(t, "call", call(t.Context(), tool, `{}`), "unavailable: the tool's server cannot be reached; the call was not made")
}

func TestConnectErrorsOverHTTP(t *testing.T) {
	t.Parallel()
	status := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") })
	for _, c := range []struct {
		name    string
		handler http.Handler
		want    string
	}{
		{"401", status(401), `it answers 401 Unauthorized; give it credentials, or other ones, in "headers" of its entry, Options.HeaderFunc or Options.OAuth`},
		{"403", status(403), `it answers 403 Forbidden; give it other credentials, or ask for more rights`},
		{"404", status(404), "its URL serves neither transport: it answers 404 Not Found; check that the URL is that of an MCP server"},
		{"503", status(503), `it answers 503 Service Unavailable; try again later`},
		{"a page", page, "it answers with text/html instead of JSON; check that the URL is that of an MCP server"},
		{"a JSON-RPC error", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asJSON(w, script{"initialize": func(json.RawMessage) string { return `"error":{"code":-32000,"message":"not today"}` }}.answer(read(r)))
		}), `handshake: calling "initialize": not today`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			equal(t, "error", fails(t, ServerConfig{URL: serveWeb(t, c.handler)}, nil), `mcp server "s": `+c.want)
		})
	}
	silent := serveWeb(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	for _, kind := range []string{config.HTTP, config.SSE} {
		equal(t, kind, fails(t, ServerConfig{URL: silent, Type: kind}, &Options{ConnectTimeout: 50 * time.Millisecond}),
			`mcp server "s": no answer within 50ms; check that the URL is that of an MCP server, or raise the timeout`)
	}
}

// Arguments that a server wants as headers are sent as such.
func TestArgumentsAsHeaders(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	schema := `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(schema)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
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

// A tool whose arguments cannot be sent as it asks is left out; its neighbours are
// not.
func TestImpossibleHeaders(t *testing.T) {
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

// A session that the server has forgotten is known as such, however it says so.
func TestLostSession(t *testing.T) {
	t.Parallel()
	for _, lost := range []struct {
		status int
		body   string
	}{
		{404, ""},
		{404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`},
		{400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`},
	} {
		inner := script{}.handler(func(w http.ResponseWriter, a string) {
			w.Header().Set("Mcp-Session-Id", "s3cret-session")
			asJSON(w, a)
		}, func(w http.ResponseWriter, r *http.Request, _ request) {
			if r.Header.Get("Mcp-Session-Id") != "s3cret-session" {
				t.Errorf("session %q", r.Header.Get("Mcp-Session-Id"))
			}
			w.WriteHeader(lost.status)
			_, _ = io.WriteString(w, lost.body)
		})
		s := open(t, ServerConfig{URL: serveWeb(t, inner)}, nil)
		_, err := list(t, s)["t"].Handler(t.Context(), nil)
		if !errors.Is(err, mcp.ErrSessionMissing) {
			t.Errorf("%v: %v", lost, err)
		}
		if strings.Contains(fmt.Sprint(errors.Unwrap(err), s.Status()), "s3cret") {
			t.Errorf("the session's id is told: %v", err)
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
	s := open(t, ServerConfig{URL: serveWeb(t, l.handler()), Type: config.SSE}, nil)
	tool := list(t, s)["t"]
	equal(t, "refused", call(t.Context(), tool, `{}`), "unavailable: the tool's server refused the credentials; the call was not made")
	equal(t, "the next", call(t.Context(), tool, `{}`), oddValue)
}

func TestLegacyEndpointElsewhere(t *testing.T) {
	t.Parallel()
	l := newLegacy(nil)
	l.endpoint = "http://attacker.example/messages?token=s3cret"
	equal(t, "error", fails(t, ServerConfig{URL: serveWeb(t, l.handler()), Type: config.SSE}, nil),
		`mcp server "s": handshake: missing endpoint: error reading event: it expects messages at http://attacker.example, where its headers are not sent; if that is the right server, use its URL in the configuration`)
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int32
	other := serveWeb(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	away := serveWeb(t, http.RedirectHandler(other+"/mcp?key=s3cret", http.StatusTemporaryRedirect))
	equal(t, "elsewhere", fails(t, ServerConfig{URL: away, Headers: map[string]string{"X-Key": "s3cret"}}, nil),
		`mcp server "s": it redirects to `+other+`, where its headers are not sent; if that is the right server, use its URL in the configuration`)
	if leaked.Load() > 0 {
		t.Error("the redirect was followed")
	}

	mux := http.NewServeMux()
	mux.Handle("/mcp", http.RedirectHandler("/mcp/", http.StatusPermanentRedirect))
	mux.Handle("/mcp/", script{"tools/call": result(oddResult)}.handler(asJSON, nil))
	s := open(t, ServerConfig{URL: serveWeb(t, mux) + "/mcp"}, nil)
	equal(t, "within", call(t.Context(), list(t, s)["t"], `{}`), oddValue)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
