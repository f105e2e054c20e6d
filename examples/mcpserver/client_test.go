package main

import (
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
	Session string `json:"session"`
}

// codeFile is what a client gets from the tools for code files.
type codeFile struct {
	FilePath   string `json:"file_path"`
	Content    string `json:"content"`
	NextOffset *int64 `json:"next_offset"`
}

// get calls a tool that must succeed, and decodes its result.
func get[T any](t *testing.T, session *mcp.ClientSession, name string, args any) (v T) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := decode(result, &v); err != nil || result.IsError {
		t.Fatalf("%s: %+v (%v)", name, result, err)
	}
	return v
}

// decode decodes structured content.
func decode(result *mcp.CallToolResult, into any) error {
	text, err := json.Marshal(result.StructuredContent)
	if err != nil || result.StructuredContent == nil {
		return fmt.Errorf("no structured content (%v): %+v", err, result.Content)
	}
	return json.Unmarshal(text, into)
}

// executeCode calls execute_code, which may fail.
func executeCode(t *testing.T, session *mcp.ClientSession, args map[string]any) (e execution) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_code", Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	if err := decode(result, &e); err != nil || result.IsError == e.Success {
		t.Fatalf("%+v (%v)", result, err)
	}
	return e
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// tokensFile writes a file of tokens.
func tokensFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.json")
	text := `{"tokens": [{"principal": "ada", "token": "the-token-of-ada-is-long-enough"}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
