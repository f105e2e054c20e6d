package login

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/mcptools"
	"github.com/zalando/go-keyring"
)

const hi = `"hi"`

func TestLogin(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	if got := hello(t, l, s); !strings.HasSuffix(got, "run tool -login tickets") {
		t.Errorf("before the login: %s", got)
	}
	mustLogin(t, l, s)
	if got := hello(t, l, s); got != hi {
		t.Errorf("after the login: %s", got)
	}
	q := s.challenge
	if q.Get("resource") != s.URL+"/mcp" || q.Get("code_challenge_method") != "S256" ||
		!strings.Contains(q.Get("scope"), "offline_access") || !strings.Contains(q.Get("scope"), "tools") ||
		q.Get("prompt") != "consent" {
		t.Errorf("the authorization request: %v", q)
	}
	files, err := filepath.Glob(filepath.Join(l.o.Folder, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files: %v, %v", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}

	revoked, err := l.Logout(t.Context(), s.config(), "tickets")
	if err != nil || !revoked {
		t.Errorf("logout: %t, %v", revoked, err)
	}
	if form := s.forms[len(s.forms)-1]; form.Get("token") != "SECRET-refresh-1" || form.Get("client_id") != "client-1" {
		t.Errorf("the revocation request: %v", form)
	}
	if _, err := os.Stat(files[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file remains: %v", err)
	}
	if got := hello(t, l, s); !strings.HasSuffix(got, "run tool -login tickets") {
		t.Errorf("after the logout: %s", got)
	}
	if _, err := l.Logout(t.Context(), s.config(), "tickets"); err == nil ||
		err.Error() != `login: there is no login to mcp server "tickets"; nothing to do` {
		t.Errorf("a second logout: %v", err)
	}
}

// TestKeyring has a keyring that works, and then one that fails.
func TestKeyring(t *testing.T) { // not parallel: the keyring belongs to the process
	s := newStub(t)
	l := New(&Options{Folder: t.TempDir(), Show: browse(t)})
	stored := func() string {
		files, _ := filepath.Glob(filepath.Join(l.o.Folder, "*.json"))
		_, err := keyring.Get(service, keyOf(s.config().Servers[0]))
		switch {
		case len(files) == 1 && err != nil:
			return "file"
		case len(files) == 0 && err == nil:
			return "keyring"
		}
		return "neither or both"
	}
	mustLogin(t, l, s)
	if got := stored(); got != "keyring" {
		t.Errorf("tokens are in %s", got)
	}
	if got := hello(t, l, s); got != hi {
		t.Error(got)
	}
	keyring.MockInitWithError(errors.New("no bus"))
	mustLogin(t, l, s)
	if got := stored(); got != "file" {
		t.Errorf("without a keyring, tokens are in %s", got)
	}
	if got := hello(t, l, s); got != hi {
		t.Error(got)
	}
	keyring.MockInit()
	mustLogin(t, l, s)
	if got := stored(); got != "keyring" {
		t.Errorf("with a keyring again, tokens are in %s", got)
	}
	if _, err := l.Logout(t.Context(), s.config(), "tickets"); err != nil {
		t.Error(err)
	}
	if got := stored(); got != "neither or both" {
		t.Errorf("after the logout, tokens are in %s", got)
	}
}

// TestOtherServer has another server with the same name: it gets no tokens.
func TestOtherServer(t *testing.T) {
	t.Parallel()
	s, other, l := newStub(t), newStub(t), logins(t)
	mustLogin(t, l, s)
	got := ""
	other.replace("/mcp", func(w http.ResponseWriter, r *http.Request) {
		got += r.Header.Get("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
	})
	if text := hello(t, l, other); !strings.Contains(text, "run tool -login tickets") || got != "" {
		t.Errorf("it got %q; %s", got, text)
	}
}

// TestOwnCredentials has an entry with an Authorization header, which the user prefers.
func TestOwnCredentials(t *testing.T) {
	t.Parallel()
	headers := map[string]string{"authorization": "x"}
	if h := New(nil).Handler(mcptools.ServerConfig{Name: "a", URL: "https://a.example", Headers: headers}); h != nil {
		t.Error("it has a handler")
	}
}

func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte("<html>Log in</html>"))
}

func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for _, err := w.Write([]byte(`{"x": "`)); err == nil; {
		_, err = w.Write(make([]byte, 64<<10))
	}
}

// TestCanceled has a user who does not come back.
func TestCanceled(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	ctx, cancel := context.WithCancel(t.Context())
	l := New(&Options{Folder: t.TempDir(), NoKeyring: true, Show: func(string) { cancel() }})
	err := l.Login(ctx, s.config(), "tickets")
	if err == nil || err.Error() != `login: mcp server "tickets": waiting for the user: context canceled` {
		t.Error(err)
	}
}

// TestOpenServer has a server that lets everybody connect, but whose metadata names an authorization server.
func TestOpenServer(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.replace("/mcp", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	s.replace("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}})
	})
	mustLogin(t, l, s)
	if r, err := l.load(keyOf(s.config().Servers[0])); r == nil || err != nil {
		t.Errorf("there is no login: %v", err)
	}
}

// TestForbidden has a server that denies access to a user who is logged in. Another login would not help.
func TestForbidden(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	mustLogin(t, l, s)
	s.replace("/mcp", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	const want = "it returned 403 Forbidden; use other credentials, or ask for more rights"
	if got := hello(t, l, s); !strings.HasSuffix(got, want) || s.n != 1 {
		t.Errorf("%d tokens were issued: %s", s.n, got)
	}
}

// TestTwoUsers has two entries for the same server, with different logins.
func TestTwoUsers(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	mustLogin(t, l, s)
	other := s.config().Servers[0]
	other.Name = "other"
	if r, err := l.load(keyOf(other)); r != nil || err != nil {
		t.Errorf("the other entry has the login: %v", err)
	}
}

func TestLogoutFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*stub)
		want   string
	}{
		"no endpoint": {metadata("revocation_endpoint", nil), "<nil>"},
		"control characters": {at("/revoke", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = conn.Write([]byte("HTTP/1.1 500 \x1b[2J\r\n\r\n"))
			_ = conn.Close()
		}), `returned 500 \u001b[2J`},
		"unavailable": {at("/revoke", http.NotFound), "revoking them failed: the authorization server returned 404"},
		"plain text":  {metadata("revocation_endpoint", "http://evil.example"), "does not start with https://"},
		"redirect":    {at("/revoke", elsewhere), "it redirects to http://evil.example, which is not followed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := newStub(t), logins(t)
			c.change(s)
			mustLogin(t, l, s)
			revoked, err := l.Logout(t.Context(), s.config(), "tickets")
			if text := errorText(err); revoked || !strings.Contains(text, c.want) || strings.Contains(text, "SECRET") {
				t.Errorf("%t, %s\nwant %s", revoked, text, c.want)
			}
			if r, err := l.load(keyOf(s.config().Servers[0])); r != nil || err != nil {
				t.Errorf("the login is kept: %v, %v", r, err)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return "<nil>"
	}
	return err.Error()
}

// TestDamaged has a file that is not a login. A new login replaces it.
func TestDamaged(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	mustLogin(t, l, s)
	path := l.path(keyOf(s.config().Servers[0]), ".json")
	if err := os.WriteFile(path, []byte(`{"Token": {"access_token": "SECRET`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := hello(t, l, s)
	if !strings.Contains(got, "the stored login is damaged; log in again") || strings.Contains(got, "SECRET") {
		t.Error(got)
	}
	mustLogin(t, l, s)
	if got := hello(t, l, s); got != hi {
		t.Error(got)
	}
}

// TestLocked has another process that holds the lock for too long.
func TestLocked(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.lifetime = 1
	mustLogin(t, l, s)
	unlock, err := l.lock(t.Context(), keyOf(s.config().Servers[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = l.Handler(s.config().Servers[0]).TokenSource(ctx)
	if err == nil || err.Error() != "the lock of a login: another process is using it" {
		t.Error(err)
	}
}

func TestUnknownServer(t *testing.T) {
	t.Parallel()
	c := &mcptools.Config{Servers: []mcptools.ServerConfig{{Name: "local", Command: "x"}}}
	for _, name := range []string{"local", "other"} {
		err := New(nil).Login(t.Context(), c, name)
		if err == nil || !strings.Contains(err.Error(), `the configuration has no mcp server "`+name+`" with a URL`) {
			t.Error(err)
		}
	}
	if _, err := New(nil).Logout(t.Context(), nil, "other"); err == nil {
		t.Error("a configuration that is nil has a server")
	}
}

// TestSilentServer has a server that answers without an end, but slowly.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	l.http.Timeout = 50 * time.Millisecond
	s.replace("/mcp", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	err := l.Login(t.Context(), s.config(), "tickets")
	if err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Error(err)
	}
}
