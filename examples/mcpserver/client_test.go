package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// execution is what a client gets from execute_code.
type execution struct {
	Success         bool            `json:"success"`
	Result          json.RawMessage `json:"result"`
	Stdout          string          `json:"stdout"`
	StdoutBytes     int             `json:"stdout_bytes"`
	StdoutTruncated bool            `json:"stdout_truncated"`
	ErrorType       string          `json:"error_type"`
	Calls           []struct {
		Tool  string `json:"tool"`
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	} `json:"calls"`
	Session     string `json:"session"`
	Run         string `json:"run"`
	Diagnostics []struct {
		Message string `json:"message"`
	} `json:"diagnostics"`
}

// codeFile is what a client gets from the tools for code files.
type codeFile struct {
	FilePath string `json:"file_path"`
}

// answered calls a tool and decodes its structured result.
func answered[T any](ctx context.Context, session *mcp.ClientSession, tool string, args any) (into T, err error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return into, err
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil || result.StructuredContent == nil {
		return into, fmt.Errorf("no structured content (%v): %+v", err, result.Content)
	}
	return into, json.Unmarshal(text, &into)
}

// get calls a tool and decodes its structured result, which must exist.
func get[T any](t *testing.T, session *mcp.ClientSession, tool string, args any) T {
	t.Helper()
	v, err := answered[T](t.Context(), session, tool, args)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return v
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// writeTokens makes principals, and returns their tokens and the file that says so.
func writeTokens(t *testing.T, n int) (tokens []string, path string) {
	t.Helper()
	var entries []map[string]string
	for i := range n {
		tokens = append(tokens, fmt.Sprintf("a-token-for-the-tests-%03d", i))
		entries = append(entries, map[string]string{"principal": fmt.Sprintf("client-%d", i), "token": tokens[i]})
	}
	text, err := json.Marshal(map[string]any{"tokens": entries})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "tokens.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return tokens, path
}
