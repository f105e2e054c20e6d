package serve_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/writ-go/writ/agent/codemode/serve"
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
		for deadline := time.Now().Add(time.Minute); !strings.Contains(r.log.String(),
			text); time.Sleep(10 * time.Millisecond) {
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
	write(`{"tokens": [{"principal": "ada", "token": "` + adaToken + `"}, {"principal": "bob", "token": "` + bobToken +
		`", "tools": []}]}`)
	logged("tokens=2")
	both(http.StatusNotFound) // with other tools, a new session is needed
	if got := known.Patterns(); text(t, got) != `{"bob":[]}` {
		t.Errorf("after the change: patterns %v", got)
	}
	write(`{"tokens": [{"principal": "ada", "token": "` + adaToken + `"}]}`)
	logged("tokens=1")
	both(http.StatusUnauthorized)
	if log := r.log.String(); strings.Count(log, "level=ERROR") != 2 || strings.Contains(log, "short-secret") {
		t.Errorf("got the log\n%s", log)
	}
}

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestTokenFile reads token files, and checks the errors of invalid ones.
func TestTokenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens.json")
	text := `{"tokens": [{"principal": "ada", "sha256": "` + strings.ToUpper(hexSum("short")) + `", "tools": []}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := serve.TokenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := a.Verifier(t.Context(), "short", nil)
	if err != nil || info.UserID != "ada" {
		t.Fatalf("got %v and %v", info, err)
	}
	if p, err := a.Principal(info); err != nil || p.Allows("who") {
		t.Errorf("%+v (%v) may use who, with no tools", p, err)
	}
	if _, err := serve.TokenFile(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestWrongTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                       "tokens: not JSON",
		`{`:                      "tokens: not JSON",
		`nonsense-token`:         "tokens: not JSON",
		"{\"tokens\": [\xff]}":   "tokens: not UTF-8; save the file as UTF-8",
		`[]`:                     "tokens: the document is of the wrong type",
		`{}`:                     "token file is empty: no client could authenticate",
		`{"tokens": []}`:         "token file is empty: no client could authenticate",
		`{"tokens": []} {}`:      "tokens: there is text after the JSON document; remove it",
		`{"tokens": {"a": "b"}}`: "tokens: tokens is of the wrong type",
		`{"token": []}`:          "tokens: unknown field \"token\"",
		`{"tokens": [{"principal": "ada", "token": "secret1-secret1-secret1", "tools": null}]}`: `token 1 ("ada"): ` +
			`tools must be a list of patterns; omit it for all tools`,
		`{"tokens": [{"principal": "ada", "token": "secret1-secret1-secret1", "tools": "a"}]}`: `token 1 ("ada"): ` +
			`tools must be a list of patterns; omit it for all tools`,
		`{"tokens": ["secret1"]}`: `tokens: tokens is of the wrong type`,
		`{"tokens": [{"principal": "c", "token": "secret1-secret1-secret1", "expires": "secret1"}]}`: `token 1 ("c"): ` +
			`expires must be like 2027-01-01T00:00:00Z`,
		`{"tokens": [{"principal": 1, "token": "secret1"}]}`:    `tokens: tokens.principal is of the wrong type`,
		`{"tokens": [{"principal": "c", "tokens": "secret1"}]}`: `tokens: unknown field "tokens"`,
		`{"tokens": [{"principal": "ada", "token": "tooshort-secret1"},
			{"token": "secret1-secret1-secret1"},
			{"principal": "bob"},
			{"principal": "bob", "token": "secret1-secret1-secret1", "sha256": "00"},
			{"principal": "bob", "sha256": "00secret1"},
			{"principal": "bob", "token": "secret1-secret1-secret1-b", "tools": ["a"]},
			{"principal": "bob", "token": "secret1-secret1-secret1-b", "tools": ["a"]},
			{"principal": "bob", "token": "secret1-secret1-secret1-c"}]}`: `token 1 ("ada"): ` +
			`token must have at least 20 characters and no spaces; ` +
			`create one with openssl rand -hex 32
token 2 (""): principal is missing
token 3 ("bob"): write either token or sha256
token 4 ("bob"): write either token or sha256
token 5 ("bob"): sha256 must have 64 hexadecimal digits
token 7 ("bob"): the token is listed twice
token 8 ("bob"): the tokens of one principal must have the same tools`,
	} {
		_, err := serve.Tokens([]byte(text))
		if err == nil || err.Error() != want || strings.Contains(err.Error(), "secret1") {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add([]byte(tokens))
	f.Add([]byte(`{"tokens": [{"principal": "a", "sha256": "` + hexSum("x") +
		`", "tools": ["a.*"], "expires": "2027-01-01T00:00:00Z"}]}`))
	f.Add([]byte(`{"tokens": [{"principal": "a", "token": 1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := serve.Tokens(text)
		if (a == nil) == (err == nil) {
			t.Fatalf("got %v and %v", a, err)
		}
		if err != nil {
			return
		}
		if _, err := a.Verifier(t.Context(), "", nil); !errors.Is(err, auth.ErrInvalidToken) {
			t.Errorf("the empty token: %v", err)
		}
	})
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	a, err := serve.Tokens([]byte(`{"tokens": [
		{"principal": "ada", "token": "adas-first-token-0123", "tools": ["execute_code", "fs.*"]},
		{"principal": "ada", "token": "adas-second-token-0123", "tools": ["execute_code", "fs.*"]},
		{"principal": "bob", "token": "bobs-only-token-0123456", "tools": []},
		{"principal": "cal", "token": "cals-only-token-0123456"}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got := a.Patterns()
		if text(t, got) != `{"ada":["execute_code","fs.*"],"bob":[]}` {
			t.Errorf("got %v", got)
		}
		got["ada"][0] = "*" // a copy
	}
	for _, a := range []*serve.Auth{nil, {Verifier: verifyOAuth}} {
		if got := a.Patterns(); got != nil {
			t.Errorf("%v has patterns %v, want none", a, got)
		}
	}
}
