package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
)

// unaware returns one server for all principals. Its pages have two tools each.
func unaware(names ...string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "unaware", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	for _, name := range names {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type": "object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if name == "panics" {
					panic("at the disco")
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "I am " + name}}}, nil
			})
	}
	return server
}

// serveOne serves one server to all principals.
func serveOne(t *testing.T, server *mcp.Server, o serve.Options) *running {
	t.Helper()
	w := newWorks()
	for _, name := range []string{"ada", "bob", "local"} {
		w.servers[name] = server
	}
	return w.start(t, o)
}

// TestToolsOfPrincipal checks that tools are hidden from principals that may not use them, over
// every transport and on every page.
func TestToolsOfPrincipal(t *testing.T) {
	t.Parallel()
	all := []string{"a1", "a2", "a3", "secret", "who", "x1", "x2", "x3"}
	for _, version := range []string{newEra, oldEra, "stateless"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o, era := serve.Options{Auth: authorized(t)}, version
			switch version {
			case "stateless":
				o.Stateless, era = true, oldEra
			}
			r := serveOne(t, unaware(all...), o)
			ada, bob := r.client(era, adaToken, nil), r.client(era, bobToken, nil)
			if got := names(t, ada); !slices.Equal(got, all) {
				t.Errorf("ada is shown %v, want %v", got, all)
			}
			page, err := bob.ListTools(t.Context(), nil)
			if err != nil || len(page.Tools) != 1 || page.Tools[0].Name != "who" || page.NextCursor != "" ||
				page.CacheScope != "private" {
				t.Errorf("bob is shown %+v (%v), want who alone", page, err)
			}
			if got := mustCall(t, bob, "who"); got != "I am who" {
				t.Errorf("bob got %q", got)
			}
			_, hidden := call(t.Context(), bob, "secret")
			_, none := call(t.Context(), bob, "nowhere")
			if hidden == nil || none == nil || hidden.Error() != strings.ReplaceAll(none.Error(), "nowhere", "secret") {
				t.Errorf("a tool of others: %v\na missing tool: %v", hidden, none)
			}
			if got := mustCall(t, ada, "secret"); got != "I am secret" {
				t.Errorf("ada got %q", got)
			}
		})
	}
}

func names(t *testing.T, session *mcp.ClientSession) (all []string) {
	t.Helper()
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tool.Name)
	}
	return all
}

// TestNoToolsOfPrincipal checks that a principal without tools gets an empty list.
func TestNoToolsOfPrincipal(t *testing.T) {
	t.Parallel()
	r := serveOne(t, unaware("a1", "a2", "a3"), serve.Options{Auth: authorized(t), Stateless: true})
	a := r.post(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, "Authorization", "Bearer "+bobToken)
	if result, _ := a.result(t)["result"].(map[string]any); fmt.Sprint(result["tools"]) != "[]" ||
		result["nextCursor"] != nil {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestServersOfRequests checks that servers for single requests are not kept in memory.
func TestServersOfRequests(t *testing.T) {
	t.Parallel()
	forgotten := make(chan struct{}, 100)
	w := newWorks()
	r := w.start(t, serve.Options{Stateless: true})
	for range 20 {
		one := unaware("who")
		runtime.AddCleanup(one, func(c chan struct{}) { c <- struct{}{} }, forgotten)
		w.mu.Lock()
		w.servers["local"] = one
		w.mu.Unlock()
		if a := r.post(callWho); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	for deadline := time.Now().Add(time.Minute); len(forgotten) < 10; time.Sleep(time.Millisecond) {
		runtime.GC()
		if time.Now().After(deadline) {
			t.Fatalf("%d of 20 servers were released", len(forgotten))
		}
	}
}

// TestPanic has a tool that panics: its caller gets an error, the log has the stack, and the
// server continues.
func TestPanic(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		o := serve.Options{Auth: authorized(t)}
		r := serveOne(t, unaware("panics", "who"), o)
		ada := r.client(version, adaToken, nil)
		if _, err := call(t.Context(), ada, "panics"); err == nil || err.Error() != `calling "tools/call": internal error` {
			t.Errorf("%s: the caller got %v", version, err)
		}
		if got := mustCall(t, ada, "who"); got != "I am who" {
			t.Errorf("%s: afterwards, got %q", version, got)
		}
		if log := r.log.String(); !strings.Contains(log, "at the disco") || !strings.Contains(log, "middleware_test.go") {
			t.Errorf("%s: the log has\n%s", version, log)
		}
	}
}

// TestMiddlewareIsInstalledOnce checks that the middleware is installed only once.
func TestMiddlewareIsInstalledOnce(t *testing.T) {
	t.Parallel()
	r := serveOne(t, unaware("panics", "who"), serve.Options{Stateless: true})
	r.post(strings.ReplaceAll(callWho, "who", "panics"))
	first := strings.Count(r.log.String(), "(*middleware)")
	for range 100 {
		r.post(callWho)
	}
	r.post(strings.ReplaceAll(callWho, "who", "panics"))
	if all := strings.Count(r.log.String(), "(*middleware)"); first == 0 || all != 2*first {
		t.Errorf("the stacks have it %d times, and %d times later", first, all-first)
	}
}

// TestPanicOnStdio is like TestPanic over stdio.
func TestPanicOnStdio(t *testing.T) {
	t.Parallel()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	log := &lockedBuffer{}
	done := make(chan error, 1)
	go func() {
		done <- serve.Run(t.Context(), func(serve.Principal) *mcp.Server { return unaware("panics", "who") },
			&serve.Options{In: in, Out: out, Logger: slog.New(slog.NewTextHandler(log, nil))})
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(t.Context(), session, "panics"); err == nil ||
		err.Error() != `calling "tools/call": internal error` {
		t.Errorf("the caller got %v", err)
	}
	if got := mustCall(t, session, "who"); got != "I am who" || !strings.Contains(log.String(), "middleware_test.go") {
		t.Errorf("afterwards, got %q; the log has\n%s", got, log)
	}
	session.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestOwnConnections has the host connect to a server that a Handler serves too: the host sees all
// tools, before and after the handler has served clients.
func TestOwnConnections(t *testing.T) {
	t.Parallel()
	server := unaware("secret", "who")
	h, err := serve.NewHandler(func(serve.Principal) *mcp.Server { return server }, nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := serve.WithPrincipal(t.Context(), serve.Principal{Name: "bob", Tools: []string{"who"}})
	list := httptest.NewRequestWithContext(restricted, http.MethodPost, "http://localhost/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`))
	list.Header.Set("Content-Type", "application/json")
	list.Header.Set("Accept", "application/json, text/event-stream")
	served := httptest.NewRecorder()
	h.ServeHTTP(served, list)
	if got := served.Body.String(); !strings.Contains(got, `"who"`) || strings.Contains(got, `"secret"`) {
		t.Errorf("bob is shown %s", got)
	}
	here, there := mcp.NewInMemoryTransports()
	own, err := server.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if got := names(t, client); !slices.Equal(got, []string{"secret", "who"}) {
		t.Errorf("the host is shown %v", got)
	}
	if got := mustCall(t, client, "secret"); got != "I am secret" {
		t.Errorf("the host got %q", got)
	}
}
