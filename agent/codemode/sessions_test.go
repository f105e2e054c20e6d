package codemode

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/testserver"
)

// TestSessionOfOddTools goes on in a session on another replica, with a tool whose name
// is not an identifier.
func TestSessionOfOddTools(t *testing.T) {
	t.Parallel()
	upstream := mcp.NewServer(&mcp.Implementation{Name: "context7", Version: "1"}, nil)
	upstream.AddTool(&mcp.Tool{Name: "resolve-library-id", InputSchema: json.RawMessage(`{"type": "object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "/go/x"}}}, nil
		})
	site := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return upstream }, nil))
	t.Cleanup(site.Close)
	path, err := testserver.WriteConfig(t.TempDir(), map[string]any{"context7": map[string]any{"url": site.URL}})
	if err != nil {
		t.Fatal(err)
	}
	storage := t.TempDir()
	one, _ := begin(t, setup{Options: Options{Config: path, Storage: storage}})
	other, _ := begin(t, setup{Options: Options{Config: path, Storage: storage}})
	e := executeCode(t, one, map[string]any{"code": `const id = await context7.resolve_library_id({}); id`,
		"session": "new"})
	for i, client := range []*mcp.ClientSession{other, one} {
		code := []string{`await context7["resolve-library-id"]({})`, `id`}[i]
		got := executeCode(t, client, map[string]any{"code": code, "session": e.Session})
		if string(got.Result) != `"/go/x"` {
			t.Errorf("%s: %+v", code, got)
		}
	}
}
