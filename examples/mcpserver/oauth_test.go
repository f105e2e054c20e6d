package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestOAuth has an authorization server that knows of several tokens, of which one
// kind is worth something here.
func TestOAuth(t *testing.T) {
	t.Parallel()
	const resource = "https://writ.example/mcp"
	soon := time.Now().Add(time.Hour).Unix()
	known := map[string]map[string]any{
		"token-of-ada":   {"active": true, "sub": "ada", "aud": resource, "exp": soon},
		"token-of-bob":   {"active": true, "sub": "bob", "aud": []string{"x", resource}},
		"taken-back":     {"active": false, "sub": "ada", "aud": resource, "exp": soon},
		"for-another":    {"active": true, "sub": "ada", "aud": "https://other.example", "exp": soon},
		"over":           {"active": true, "sub": "ada", "aud": resource, "exp": 1000},
		"without-anyone": {"active": true, "aud": resource, "exp": soon},
	}
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "writ" || secret != "secret+of+this+server" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		answer := known[r.PostFormValue("token")]
		if answer == nil {
			answer = map[string]any{"active": false}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(issuer.Close)
	connect, a := web(t, nil, "-oauth", issuer.URL, "-oauth-introspect", issuer.URL, "-oauth-client", "writ",
		"-oauth-resource", resource)
	file := get[codeFile](t, connect("token-of-ada", ""), "initialize_code_file", map[string]any{"content": "1"})
	if text, failed := ask(t, connect("token-of-bob", ""), "read_code_file",
		map[string]any{"file_path": file.FilePath}); !failed || !strings.Contains(string(text), "not found") {
		t.Errorf("bob got %s", text)
	}
	address := "http://" + a.settings.serving.Listener.Addr().String()
	for token := range known {
		want := http.StatusUnauthorized
		if strings.HasPrefix(token, "token-of-") {
			want = http.StatusOK
		}
		if got := initialize(t, address+"/mcp", token); got != want {
			t.Errorf("%s: status %d, want %d", token, got, want)
		}
	}
	if got := initialize(t, address+"/mcp", "made-up"); got != http.StatusUnauthorized {
		t.Errorf("a token that nobody issued: status %d", got)
	}
	response, err := http.Get(address + "/.well-known/oauth-protected-resource/mcp")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(text), issuer.URL) || !strings.Contains(string(text), resource) {
		t.Errorf("the metadata is %s (%v)", text, err)
	}
}

// initialize sends the first message of a client and returns the status.
func initialize(t *testing.T, address, token string) int {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}
