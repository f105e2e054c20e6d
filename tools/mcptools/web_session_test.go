package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/tools/mcptools/internal/web"
)

// A refused call ends neither the session nor the calls in flight over it.
func TestRefusedCallsEndNoSession(t *testing.T) {
	t.Parallel()
	for _, code := range []int{401, 403, 404, 429, 500, 503} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			arrived, release := make(chan struct{}), make(chan struct{})
			var starts atomic.Int32
			h := script{"initialize": func(json.RawMessage) string {
				starts.Add(1)
				return `"result":` + hello
			}}.handler(func(w http.ResponseWriter, a string) {
				if code != 404 { // which would be the end of a session
					w.Header().Set("Mcp-Session-Id", "x")
				}
				asJSON(w, a)
			}, func(w http.ResponseWriter, _ *http.Request, msg request) {
				if strings.Contains(string(msg.Params), "bad") {
					w.WriteHeader(code)
					return
				}
				arrived <- struct{}{}
				<-release
				asEvents(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":"fine"}}`, msg.ID))
			})
			s := open(t, ServerConfig{URL: serveWeb(t, h)}, nil)
			tool := list(t, s)["t"]
			var slow sync.WaitGroup
			slow.Go(func() { equal(t, "in flight", call(t.Context(), tool, `{}`), `"fine"`) })
			<-arrived
			for range 3 {
				_, err := tool.Handler(t.Context(), json.RawMessage(`{"x":"bad"}`))
				if want := web.StatusError(&http.Response{StatusCode: code}).ToolError(); err == nil ||
					err.Error() != want.Error() {
					t.Errorf("refused: %v, not %v", err, want)
				}
			}
			close(release)
			slow.Wait()
			equal(t, "status", brief(s), "s ready 2025-11-25, 1 tools, 0 restarts")
			equal(t, "handshakes", fmt.Sprint(starts.Load()), "1")
		})
	}
}

// The session is lost, and the server accepts no new one.
func TestSessionCannotBeReplaced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status         int
		message, cause string
	}{
		{404, "the tool's server refused the request (404 Not Found); the call was not made",
			"its URL serves neither transport: it returned 404 Not Found; check that the URL points to an MCP server"},
		{503, "the tool's server failed (503 Service Unavailable); the call was not made",
			"it returned 503 Service Unavailable; try again later"},
	} {
		var gone atomic.Bool
		h := script{}.handler(func(w http.ResponseWriter, a string) {
			w.Header().Set("Mcp-Session-Id", "x")
			asJSON(w, a)
		}, func(w http.ResponseWriter, _ *http.Request, _ request) {
			gone.Store(true)
			w.WriteHeader(http.StatusNotFound)
		})
		s := open(t, ServerConfig{URL: serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gone.Load() {
				w.WriteHeader(c.status)
				return
			}
			h.ServeHTTP(w, r)
		}))}, nil)
		_, err := list(t, s)["t"].Handler(t.Context(), nil)
		equal(t, "message", err.Error(), c.message)
		equal(t, "cause", errors.Unwrap(err).Error(), `mcp server "s": tool "t": `+c.cause)
	}
}
