package serve_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/mcptools/serve"
)

// TestTokensChange removes a token from the file while it is in use: the token and its session
// end. An invalid or missing file changes nothing and is logged.
func TestTokensChange(t *testing.T) {
	t.Parallel()
	inBubble(t, changeTokens)
}

func changeTokens(t *testing.T, s *works) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(tokens)
	known, err := serve.TokenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := s.start(t, serve.Options{Auth: known})
	ada, bob := []string{"Authorization", "Bearer " + adaToken}, []string{"Authorization", "Bearer " + bobToken}
	adas, bobs := r.begin(ada...), r.begin(bob...)
	status := func(id string, headers []string) int {
		return r.post(callWho, append(headers, "Mcp-Session-Id", id)...).status
	}
	logged := func(text string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !strings.Contains(r.log.String(), text); time.Sleep(10 * time.Millisecond) {
			status(adas, ada)
			if time.Now().After(deadline) {
				t.Fatalf("%q is not in the log:\n%s", text, r.log)
			}
		}
	}
	both := func(want int) {
		t.Helper()
		if a, b := status(adas, ada), status(bobs, bob); a != http.StatusOK || b != want {
			t.Errorf("ada: %d, want 200; bob: %d, want %d", a, b, want)
		}
	}
	both(http.StatusOK)
	write(`{"tokens": [{"principal": "ada", "token": "short-secret"}]}`)
	logged(path + ": token 1")
	both(http.StatusOK)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	logged("stat " + path)
	both(http.StatusOK)
	write(`{"tokens": [{"principal": "ada", "token": "` + adaToken + `"}, {"principal": "bob", "token": "` + bobToken + `", "tools": []}]}`)
	logged("tokens=2")
	both(http.StatusNotFound) // with other tools, a new session is needed
	write(`{"tokens": [{"principal": "ada", "token": "` + adaToken + `"}]}`)
	logged("tokens=1")
	both(http.StatusUnauthorized)
	if log := r.log.String(); strings.Count(log, "level=ERROR") != 2 || strings.Contains(log, "short-secret") {
		t.Errorf("got the log\n%s", log)
	}
}
