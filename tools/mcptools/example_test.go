package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
)

// A server in the same process, called like a program's runtime calls it.
func ExampleConnect() {
	type in struct {
		Name string `json:"name"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "Greets somebody."},
		func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + in.Name + "!"}}}, nil, nil
		})
	ctx := context.Background()
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, theirs, nil); err != nil {
		log.Fatal(err)
	}

	servers, err := mcptools.Connect(ctx, map[string]mcp.Transport{"greeter": ours}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer servers.Close()
	set, err := tools.NewSet(ctx, servers)
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range set.Bindings() {
		result, err := b.Handler(ctx, json.RawMessage(`{"name":"Ada"}`))
		fmt.Println(b.Path(), b.Description, string(result), err)
	}
	// Output: greeter.greet Greets somebody. "Hello, Ada!" <nil>
}

// A server that cannot be started. If another one had started, there would be no error, and
// Status would report this one.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "mcp_servers.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers": {"git": {"command": "no-such-git-mcp"}}}`), 0o600); err != nil {
		log.Fatal(err)
	}

	_, err = mcptools.Open(context.Background(), path, nil)
	fmt.Println(err)
	// Output:
	// all mcp servers failed:
	// mcp server "git": command "no-such-git-mcp" was not found in PATH; install it, or give its full path
}
