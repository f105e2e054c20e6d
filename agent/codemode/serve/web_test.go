package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
)

// TestProtocolVersions serves clients of all protocol versions at one address.
func TestProtocolVersions(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{false, true} {
		r := start(t, serve.Options{Stateless: stateless})
		for _, version := range []string{newEra, oldEra, "2025-06-18", "2025-03-26"} {
			t.Run(fmt.Sprint(version, " stateless ", stateless), func(t *testing.T) {
				session := r.client(version, "", nil)
				if got := session.InitializeResult().ProtocolVersion; got != version {
					t.Errorf("speaks %s, want %s", got, version)
				}
				if got, want := session.ID() != "", version != newEra && !stateless; got != want {
					t.Errorf("has a session: %v, want %v", got, want)
				}
				list, err := session.ListTools(t.Context(), nil)
				if err != nil || len(list.Tools) != 4 {
					t.Errorf("got %v and %v, want 4 tools", list, err)
				}
				if got := mustCall(t, session, "who"); got != "local" {
					t.Errorf("got %q, want local", got)
				}
			})
		}
	}
}

// TestStatelessRequest sends a request of protocol 2026-07-28 without a client.
func TestStatelessRequest(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	a := r.post(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}`,
		"Mcp-Protocol-Version", newEra, "Mcp-Method", "server/discover")
	result, _ := a.result(t)["result"].(map[string]any)
	if a.status != http.StatusOK || !strings.Contains(fmt.Sprint(result["supportedVersions"]), newEra) ||
		!strings.Contains(fmt.Sprint(result["supportedVersions"]), oldEra) {
		t.Errorf("server/discover: %d %s", a.status, a.body)
	}
	a = r.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who","arguments":{},`+meta+`}}`,
		"Mcp-Protocol-Version", newEra, "Mcp-Method", "tools/call", "Mcp-Name", "who")
	if a.status != http.StatusOK || !strings.Contains(a.body, `"text":"local"`) || a.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("tools/call: %d %v %s", a.status, a.header, a.body)
	}
	// A header that contradicts the body is refused.
	a = r.post(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"who","arguments":{},`+meta+`}}`,
		"Mcp-Protocol-Version", newEra, "Mcp-Method", "tools/call", "Mcp-Name", "see")
	if a.status != http.StatusBadRequest {
		t.Errorf("mismatch: %d %s, want 400", a.status, a.body)
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"clientInfo":{"name":"raw","version":"1"},"capabilities":{}}}`

// begin begins a session without a client.
func (r *running) begin(headers ...string) (id string) {
	r.t.Helper()
	a := r.post(initialize, headers...)
	id = a.header.Get("Mcp-Session-Id")
	if a.status != http.StatusOK || id == "" {
		r.t.Fatalf("initialize: %d %v %s", a.status, a.header, a.body)
	}
	if a := r.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		append(headers, "Mcp-Session-Id", id)...); a.status != http.StatusAccepted {
		r.t.Fatalf("initialized: %d %s", a.status, a.body)
	}
	return id
}

const callWho = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"who","arguments":{}}}`

// TestSession runs a session of protocol 2025-11-25 without a client.
func TestSession(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{})
	id := r.begin()
	of := []string{"Mcp-Session-Id", id, "Mcp-Protocol-Version", oldEra}
	if a := r.post(callWho, of...); a.status != http.StatusOK || !strings.Contains(a.body, `"text":"local"`) {
		t.Errorf("call: %d %s", a.status, a.body)
	}
	r.send(http.MethodDelete, "/mcp", "", of...).want(t, "delete", http.StatusNoContent)
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		if a := r.send(method, "/mcp", callWho, of...); a.status != http.StatusNotFound || a.body != "session not found\n" {
			t.Errorf("%s after the end: %d %q, want 404", method, a.status, a.body)
		}
	}
}

// TestReplicas sends each request of one client to another of three servers.
func TestReplicas(t *testing.T) {
	t.Parallel()
	var all []string
	for range 3 {
		all = append(all, start(t, serve.Options{Stateless: true, Auth: authorized(t)}).url)
	}
	balancer := roundRobin(t, all)
	for _, version := range []string{newEra, oldEra} {
		r := &running{t: t, url: balancer}
		session := r.client(version, adaToken, nil)
		for range 10 {
			if got := mustCall(t, session, "who"); got != "ada" {
				t.Errorf("%s: got %q, want ada", version, got)
			}
		}
	}
}

// TestToolsChanged checks that clients with sessions and streams are told when the tools
// change.
func TestToolsChanged(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o := serve.Options{}
			r := start(t, o)
			told := make(chan struct{}, 10)
			r.client(version, "", &mcp.ClientOptions{ToolListChangedHandler: func(_ ctx,
				_ *mcp.ToolListChangedRequest) {
				told <- struct{}{}
			}})
			server := r.server(serve.Principal{Name: "local"})
			for n := 0; ; n++ { // a client may be connected before it listens
				server.AddTool(&mcp.Tool{Name: fmt.Sprint("more", n), InputSchema: map[string]any{"type": "object"}}, nil)
				select {
				case <-told:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
}
