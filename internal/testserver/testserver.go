// Package testserver is a small MCP server for tests that serves the files in a folder. A test starts its own binary
// again as the server.
package testserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const marker = "serve-test-files"

// Main must be called first in TestMain. In a process that was started with the configuration from [Entry],
// Main serves and does not return.
func Main() {
	if len(os.Args) != 3 || os.Args[1] != marker {
		return
	}
	if err := serve(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Entry returns the configuration of a server that serves a folder.
func Entry(folder string) map[string]any {
	return map[string]any{"command": os.Args[0], "args": []string{marker, folder}}
}

// WriteConfig writes a configuration file with these entries and returns its
// path.
func WriteConfig(folder string, entries map[string]any) (string, error) {
	text, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "mcp_servers.json")
	return path, os.WriteFile(path, text, 0o600)
}

type fileArgs struct {
	Path    string `json:"path"`
	Content string `json:"content,omitempty"`
}

func serve(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	add := func(name, schema string, do func(fileArgs) (string, error)) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				var args fileArgs
				result := &mcp.CallToolResult{}
				err := json.Unmarshal(r.Params.Arguments, &args)
				text := ""
				if err == nil {
					text, err = do(args)
				}
				if err != nil {
					result.SetError(err)
					return result, nil
				}
				result.Content = []mcp.Content{&mcp.TextContent{Text: text}}
				return result, nil
			})
	}
	add("list_directory", `{"type":"object","properties":{"path":{"type":"string"}}}`, func(fileArgs) (string, error) {
		entries, err := os.ReadDir(folder)
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = "[FILE] " + e.Name()
		}
		return strings.Join(names, "\n"), err
	})
	add("read_text_file", `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`,
		func(a fileArgs) (string, error) {
			text, err := root.ReadFile(a.Path)
			return string(text), err
		})
	add("write_file",
		`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path",`+
			`"content"]}`, func(a fileArgs) (string, error) {
			return "written", root.WriteFile(a.Path, []byte(a.Content), 0o600)
		})
	add("learn", `{"type":"object","properties":{"path":{"type":"string"}}}`, func(a fileArgs) (string, error) {
		add(a.Path, `{"type":"object"}`, func(fileArgs) (string, error) { return "done", nil })
		return "learnt", nil
	})
	add("die", `{"type":"object"}`, func(fileArgs) (string, error) {
		os.Exit(3)
		return "", nil
	})
	return server.Run(context.Background(), &mcp.StdioTransport{})
}
