package codemode

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lateServer is the address of a server that answers nothing before it is released.
func lateServer(t *testing.T) (url string, release func()) {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "late", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "greet", Description: "Greet somebody.",
		InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hello"}}}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true})
	released := make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
			handler.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	t.Cleanup(release)
	return web.URL, release
}

// TestLateServer has a server that does not answer: clients are served without it, and
// hear of it when it does.
func TestLateServer(t *testing.T) {
	t.Parallel()
	url, release := lateServer(t)
	path := configOf(t, map[string]any{"late one": map[string]any{"url": url}})
	client, heard := listening()
	session, a := begin(t, setup{Options: Options{Config: path, Startup: 10 * time.Millisecond}, client: client})
	const pending = "Not connected yet: late_one. Once they are, programs can call their tools, and tools.search " +
		"finds them."
	if text := describedExecute(t, session); !strings.HasSuffix(text, pending) {
		t.Errorf("at first the description is\n%s", text)
	}
	const starting = "the server late_one is not connected: it is still starting; try again soon"
	if message, hint := diagnosed(t, session,
		map[string]any{"code": "await late_one.greet({})"}); message != "late_one is not defined" || hint != starting {
		t.Errorf("got %s (%s)", message, hint)
	}
	if text, failed := ask(t, session, "describe_tool", map[string]any{"name": "late_one.greet"}); !failed ||
		string(text) != starting {
		t.Errorf("describe_tool: %s", text)
	}
	release()
	for !strings.Contains(describedExecute(t, session), "declare const late_one:") {
		<-heard
	}
	if text := describedExecute(t, session); strings.Contains(text, "Not connected yet") {
		t.Errorf("at last the description is\n%s", text)
	}
	wantResult(t, session, `await late_one.greet({})`, `"hello"`)
	if text, failed := ask(t, session, "search_tools", map[string]any{"query": "greet"}); failed ||
		!strings.Contains(string(text), "late_one.greet") {
		t.Errorf("search_tools: %s", text)
	}
	if log := a.written; !log.has("the tools are up to date") {
		t.Error("nothing is logged")
	}
}
