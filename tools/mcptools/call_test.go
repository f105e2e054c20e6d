package mcptools

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// sessions serves a script with numbered sessions. It passes calls of tools, and requests other
// than POST, to other, which reports whether it answered.
func sessions(other func(w http.ResponseWriter, r *http.Request, msg request) bool) http.Handler {
	var started atomic.Int32
	whole := script{}.whole()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var msg request
		if r.Method == http.MethodPost {
			msg = read(r)
		}
		switch {
		case other(w, r, msg):
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case msg.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			if msg.Method == "initialize" {
				w.Header().Set("Mcp-Session-Id", fmt.Sprint("session", started.Add(1)))
			}
			asJSON(w, whole.answer(msg))
		}
	})
}

const lostCall = "unknown: the connection to the tool's server was lost; whether the call took effect is unknown"

// A call whose response began is not repeated if the rest of the response, and the session, are
// lost.
func TestNotRepeatedWhenNotResumed(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := open(t, ServerConfig{URL: serveWeb(t, sessions(func(w http.ResponseWriter, r *http.Request, msg request) bool {
		switch {
		case r.Header.Get("Last-Event-ID") != "":
			w.WriteHeader(http.StatusNotFound)
		case msg.Method == "tools/call":
			calls.Add(1)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 1\nretry: 1\ndata:\n\n")
		default:
			return false
		}
		return true
	}))}, nil)
	equal(t, "call", call(t.Context(), list(t, s)["t"], `{}`), lostCall)
	equal(t, "calls", fmt.Sprint(calls.Load()), "1")
}

// A call in flight is not repeated when another call finds that the session is lost; the other
// call is.
func TestNotRepeatedWhenAnotherLosesTheSession(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	calls := map[string]int{} // by session
	arrived := make(chan struct{}, 1)
	s := open(t, ServerConfig{URL: serveWeb(t, sessions(func(w http.ResponseWriter, r *http.Request, msg request) bool {
		if msg.Method != "tools/call" {
			return false
		}
		session := r.Header.Get("Mcp-Session-Id")
		mu.Lock()
		calls[session]++
		n := calls[session]
		mu.Unlock()
		switch {
		case session != "session1":
			asJSON(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, msg.ID))
		case n == 1:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": working\n\n")
			_ = http.NewResponseController(w).Flush()
			arrived <- struct{}{}
			<-r.Context().Done()
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		return true
	}))}, nil)
	tool := list(t, s)["t"]
	var first sync.WaitGroup
	first.Go(func() { equal(t, "in flight", call(t.Context(), tool, `{}`), lostCall) })
	<-arrived
	equal(t, "turned away", call(t.Context(), tool, `{}`), `""`)
	first.Wait()
	mu.Lock()
	defer mu.Unlock()
	equal(t, "calls", fmt.Sprint(calls), "map[session1:2 session2:1]")
}

// A server of the TypeScript SDK that has one transport for all sessions is restarted: the next listing and the next
// call connect again, and each request is processed once.
func TestRestartOfSharedTransport(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var session string // "" until a client has initialized it
	var processed []string
	h := sessions(func(w http.ResponseWriter, r *http.Request, msg request) bool {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method != http.MethodPost || msg.ID == nil:
			return false
		case msg.Method == "initialize":
			session = "current"
		case session == "":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w,
				`{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`)
			return true
		}
		processed = append(processed, msg.Method)
		if msg.Method != "tools/call" {
			return false
		}
		asJSON(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, msg.ID))
		return true
	})
	s := open(t, ServerConfig{URL: serveWeb(t, h), Type: "http"}, nil)
	tool := list(t, s)["t"]
	restart := func() {
		mu.Lock()
		defer mu.Unlock()
		session, processed = "", nil
	}
	restart()
	equal(t, "call", call(t.Context(), tool, `{}`), `""`)
	mu.Lock()
	equal(t, "for the call", fmt.Sprint(processed), "[initialize tools/list tools/call]")
	mu.Unlock()
	restart()
	equal(t, "tools", fmt.Sprint(len(list(t, s))), "1")
	mu.Lock()
	equal(t, "for the listing", fmt.Sprint(processed), "[initialize tools/list]")
	mu.Unlock()
	equal(t, "status", brief(s), "s ready 2025-11-25, 1 tools, 2 restarts")
}

// A server that answers a call with an error may have acted, whatever the error's code: a program that is written again
// does not repeat the call.
func TestNotRepeatedAfterJSONRPCError(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`{"code":-32602,"message":"MCP error -32602: Invalid tools/call result: no content"}`,
		`{"code":-32602,"message":"Tool t has an output schema but no structured content was provided"}`,
		`{"code":-32602,"message":"the address is bad"}`,
		`{"code":-32601,"message":"Method not found"}`,
	} {
		calls := 0
		s := serve(t, script{"tools/call": func(json.RawMessage) string {
			calls++
			return `"error":` + answer
		}}, nil)
		set, err := tools.NewSet(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		j := journal.New(nil)
		for range 3 {
			run := dispatch.New(set, j.Attempt())
			if _, err := run.Issue(tools.Call{Args: json.RawMessage(`{}`)}, 0).Perform(t.Context()); err == nil {
				t.Errorf("%s: no error", answer)
			}
		}
		equal(t, answer, fmt.Sprint(calls), "1")
	}
}

// If a connection breaks, net/http repeats requests with an idempotency key. Here it must not.
func TestNotRepeatedForIdempotencyKey(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", "x-idempotency-key"} {
		var calls atomic.Int32
		s := open(t, ServerConfig{
			Headers: map[string]string{name: "k"},
			URL: serveWeb(t, script{}.handler(asJSON, func(w http.ResponseWriter, r *http.Request, _ request) {
				calls.Add(1)
				equal(t, name, r.Header.Get(name), "k")
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_ = conn.Close()
			})),
		}, nil)
		equal(t, "call", call(t.Context(), list(t, s)["t"], `{}`), lostCall)
		equal(t, "calls", fmt.Sprint(calls.Load()), "1")
	}
}

// An error of a call does not end the session, whatever it says about sessions.
func TestNotRepeatedForErrorMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		id     string
		code   int
		text   string
	}{
		{400, "null", -32603, "the database session could not be committed"},
		{400, "ID", -32000, "Session not found"},
		{400, "ID", -32000, "Bad Request: Server not initialized"},
		{404, "ID", -32602, "Session not found"},
		{404, "ID", -32001, "the order was sent; Session not found"},
	} {
		var calls atomic.Int32
		s := open(t, ServerConfig{URL: serveWeb(t, sessions(func(w http.ResponseWriter, _ *http.Request, msg request) bool {
			if msg.Method != "tools/call" {
				return false
			}
			calls.Add(1)
			w.WriteHeader(c.status)
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`,
				strings.ReplaceAll(c.id, "ID", string(msg.ID)), c.code, c.text)
			return true
		}))}, nil)
		equal(t, "call", call(t.Context(), list(t, s)["t"], `{}`), "failed: "+c.text)
		equal(t, "calls", fmt.Sprint(calls.Load()), "1")
	}
}
