package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/mcptools/internal/web"
)

// The host sees why a server failed, without secrets.
func TestCauseOfServerError(t *testing.T) {
	t.Parallel()
	h := script{}.handler(asJSON, func(w http.ResponseWriter, r *http.Request, msg request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no disk for %s"}}`, msg.ID,
			r.Header.Get("Token"))
	})
	s := open(t, ServerConfig{URL: serveWeb(t, h), Headers: map[string]string{"Token": "s3cret-token"}}, nil)
	_, err := list(t, s)["t"].Handler(t.Context(), nil)
	equal(t, "cause", fmt.Sprint(errors.Unwrap(err)), `mcp server "s": tool "t": it returned 500 Internal Server Error; `+
		`try again later: no disk for [hidden]`)
}

// After any bad response to one call, the next call works.
func TestBadResponsesOverHTTP(t *testing.T) {
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
		{"an HTML page", typed("text/html", "<h1>Welcome</h1>"),
			"unknown: the response is not an MCP message; whether the call took effect is unknown"},
		{"no JSON", typed("application/json", "fine"), "invalid_result: the call was made, but its response cannot be read"},
		{"the answer to another call", typed("application/json", `{"jsonrpc":"2.0","id":999,"result":{}}`),
			"invalid_result: the call was made, but its response cannot be read"},
		{"a batch", typed("application/json", `[]`),
			"invalid_result: the call was made, but its response cannot be read"},
		{"an event that is not JSON", typed("text/event-stream", "data: fine\n\n"),
			"invalid_result: the call was made, but its response cannot be read"},
		{"a stream without the answer", typed("text/event-stream", ": none\n\n"), unclear},
		{"an incomplete event", typed("text/event-stream", `data: {"jsonrpc":"2.0","id":ID,"result":{}}`), unclear},
		{"an endless body", endless("application/json", ``),
			"too_large: the call was made, but the response has more than 100000 bytes, which is the limit; ask for less"},
		{"too much in an event", func(w http.ResponseWriter, _ *http.Request, msg request) {
			asEvents(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, msg.ID,
				strings.Repeat("x", 200_000)))
		}, "too_large: the call was made, but the response has 200073 bytes; the limit is 100000; ask for less"},
		{"more after the answer", endless("text/event-stream",
			"data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[]}}\n\ndata: "), `""`},
		{"an answer cut short", func(w http.ResponseWriter, _ *http.Request, _ request) {
			w.Header().Set("Content-Length", "100")
			asJSON(w, `{"jsonrpc":`)
		}, unclear},
		{"the connection closed", hangUp, unclear},
		{"401", status(401, "no token"), "unavailable: the tool's server refused the credentials; the call was not made"},
		{"403 as the answer to the call", status(403, `{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"no"}}`),
			"failed: no"},
		{"403", status(403, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}`),
			"unavailable: the tool's server denied access; the call was not made"},
		{"404", status(404, "not here"),
			"unavailable: the tool's server refused the request (404 Not Found); the call was not made"},
		{"429", status(429, ""), "unavailable: the tool's server received too many requests; the call was not made"},
		{"500", status(500, "oops"),
			"unknown: the tool's server failed (500 Internal Server Error); whether the call took effect is unknown"},
		{"502 with a page", status(502, "<html>"),
			"unknown: the tool's server failed (502 Bad Gateway); whether the call took effect is unknown"},
		{"400 with a JSON-RPC error", status(400,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad input","data":{"at":1}}}`),
			`failed: bad input {"at":1}`},
		{"500 with a JSON-RPC error", status(500, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"broken"}}`),
			"unknown: the tool's server failed (500 Internal Server Error); whether the call took effect is unknown"},
		{"a redirect of a POST", func(w http.ResponseWriter, r *http.Request, _ request) {
			http.Redirect(w, r, "/other", http.StatusFound)
		}, "unknown: the tool's server redirects elsewhere; whether the call took effect is unknown"},
		{"a result elsewhere", func(w http.ResponseWriter, r *http.Request, _ request) {
			http.Redirect(w, r, "/other", http.StatusSeeOther)
		}, "unknown: the tool's server redirects elsewhere; whether the call took effect is unknown"},
		{"a redirect to another origin", func(w http.ResponseWriter, r *http.Request, _ request) {
			http.Redirect(w, r, "http://other.example/", http.StatusTemporaryRedirect)
		}, "unavailable: the tool's server redirects elsewhere; the call was not made"},
		{"304", status(304, ""),
			"unknown: the tool's server did not accept the request (304 Not Modified); whether the call took effect is unknown"},
		{"400", status(400, ""),
			"unknown: the tool's server did not accept the request (400 Bad Request); whether the call took effect is unknown"},
		{"408", status(408, ""),
			"unknown: the tool's server did not accept the request (408 Request Timeout); whether the call took effect " +
				"is unknown"},
		{"409", status(409, ""),
			"unknown: the tool's server did not accept the request (409 Conflict); whether the call took effect is unknown"},
		{"413", status(413, ""),
			"unavailable: the tool's server refused the request (413 Request Entity Too Large); the call was not made"},
		{"499", status(499, ""),
			"unknown: the tool's server did not accept the request (499); whether the call took effect is unknown"},
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
				equal(t, "the next", call(t.Context(), tool, `{}`), `"again"`)
				equal(t, "restarts", fmt.Sprint(s.Status()[0].Restarts), "0")
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(script{}.handler(asJSON, nil))
	// Other tests do not get a port of this address when it is free again.
	if own, err := net.Listen("tcp", "127.36.71.4:0"); err == nil {
		_ = web.Listener.Close()
		web.Listener = own
	}
	web.Start()
	// Without kept connections, it is known that nothing was sent.
	alone := &Options{HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	s := open(t, ServerConfig{URL: web.URL}, alone)
	tool := list(t, s)["t"]
	web.Close()
	equal(t, "call", call(t.Context(), tool, `{}`),
		"unavailable: the tool's server cannot be reached; the call was not made")

	address := strings.TrimPrefix(web.URL, "http://")
	equal(t, "connecting", fails(t, ServerConfig{URL: web.URL}, alone),
		`mcp server "s": it cannot be reached; check that it is running and that the URL is right: dial tcp `+address+
			`: connect: connection refused`)
}

// severed is a connection that fails once over is set.
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

// The kept connections are broken and there is no other: nothing has been sent.
func TestUnreachableOverKeptConnections(t *testing.T) {
	t.Parallel()
	var over atomic.Bool
	o := &Options{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network,
		address string) (net.Conn, error) {
		if over.Load() {
			return nil, errors.New("no route")
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return severed{conn, &over}, err
	}}}}
	s := open(t, ServerConfig{URL: serveWeb(t, script{}.handler(asJSON, nil))}, o)
	tool := list(t, s)["t"]
	over.Store(true)
	equal(t, "call", call(t.Context(), tool, `{}`),
		"unavailable: the tool's server cannot be reached; the call was not made")
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
		{"401", status(401),
			`it returned 401 Unauthorized; set or correct its credentials in "headers" of its entry, ` +
				`Options.HeaderFunc or Options.OAuth`},
		{"403", status(403), `it returned 403 Forbidden; use other credentials, or ask for more rights`},
		{"404", status(404),
			"its URL serves neither transport: it returned 404 Not Found; check that the URL points to an MCP server"},
		{"503", status(503), `it returned 503 Service Unavailable; try again later`},
		{"a page", page, "it returned text/html instead of JSON; check that the URL points to an MCP server"},
		{"a JSON-RPC error", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asJSON(w,
				script{"initialize": func(json.RawMessage) string {
					return `"error":{"code":-32000,"message":"not today"}`
				}}.answer(read(r)))
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
	for _, kind := range []string{web.HTTP, web.SSE} {
		equal(t, kind, fails(t, ServerConfig{URL: silent, Type: kind}, &Options{ConnectTimeout: 50 * time.Millisecond}),
			`mcp server "s": no answer within 50ms; check that the URL points to an MCP server, or raise the timeout`)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int32
	other := serveWeb(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	away := serveWeb(t, http.RedirectHandler(other+"/mcp?key=s3cret", http.StatusTemporaryRedirect))
	equal(t, "elsewhere", fails(t, ServerConfig{URL: away, Headers: map[string]string{"X-Key": "s3cret"}}, nil),
		`mcp server "s": it redirects to `+other+
			`, but its headers are sent only to its own origin; if that is the right server, use its URL in the configuration`)
	if leaked.Load() > 0 {
		t.Error("the redirect was followed")
	}

	mux := http.NewServeMux()
	mux.Handle("/mcp", http.RedirectHandler("/mcp/", http.StatusPermanentRedirect))
	mux.Handle("/mcp/", script{"tools/call": result(oddResult)}.handler(asJSON, nil))
	s := open(t, ServerConfig{URL: serveWeb(t, mux) + "/mcp"}, nil)
	equal(t, "within", call(t.Context(), list(t, s)["t"], `{}`), oddValue)
}
