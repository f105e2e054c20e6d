package login

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/display"
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

// TestRefresh has tokens that expire at once, or that the server revokes. Many processes use the same login.
func TestRefresh(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.lifetime = 1 // less than the tolerance of package oauth2
	mustLogin(t, l, s)
	s.set(func() { s.lifetime = 3600 })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			process := New(&l.o)
			if got := hello(t, process, s); got != hi {
				t.Error(got)
			}
		})
	}
	all.Wait()
	s.set(func() {
		if s.n != 2 {
			t.Errorf("%d tokens were issued; the second one was enough for all processes", s.n)
		}
		if form := s.forms[1]; form.Get("resource") != s.URL+"/mcp" || form.Get("client_id") != "client-1" {
			t.Errorf("the refresh request: %v", form)
		}
	})

	servers, err := mcptools.Start(t.Context(), s.config(), &mcptools.Options{OAuth: l.Handler})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	s.set(func() { clear(s.valid) }) // only the server knows
	if got := call(t, servers); got != hi || s.n != 3 {
		t.Errorf("after the token was revoked: %s, %d tokens", got, s.n)
	}
	s.set(func() {
		clear(s.valid)
		s.refresh = "another"
	})
	if got := call(t, servers); !strings.Contains(got, "requires authorization") {
		t.Errorf("after the refresh token was revoked: %s", got)
	}
	if got := hello(t, l, s); !strings.Contains(got, "run tool -login tickets") || strings.Contains(got, "SECRET") {
		t.Errorf("a new connection: %s", got)
	}
	before := len(s.forms)
	hello(t, l, s)
	if len(s.forms) != before {
		t.Error("a refresh token that was refused is sent again")
	}
	mustLogin(t, l, s)
	if got := call(t, servers); got != hi {
		t.Errorf("the connection after a new login: %s", got)
	}
}

// TestShortLived has tokens that are as good as expired when they are issued: each request refreshes them.
func TestShortLived(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.lifetime = 1
	mustLogin(t, l, s)
	if got := hello(t, l, s); got != hi {
		t.Error(got)
	}
}

// TestRefreshFails has token endpoints that answer other things. The login remains, and no error has a secret.
func TestRefreshFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a page":      {page, "refreshing the token: oauth2: cannot parse json: invalid character '<'"},
		"large":       {endless, "the response is larger than 1 MiB"},
		"a redirect":  {elsewhere, "it redirects to http://evil.example, which is not followed"},
		"unavailable": {http.NotFound, "refreshing the token: the token endpoint returned 404"},
		"an echo": {func(w http.ResponseWriter, r *http.Request) {
			reply(w, 400, map[string]string{"error": "x", "error_description": "not " + r.FormValue("refresh_token")})
		}, "the token endpoint returned 400 x not [hidden]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := newStub(t), logins(t)
			s.lifetime = 1
			mustLogin(t, l, s)
			s.replace("/token", c.answer)
			if got := hello(t, l, s); !strings.Contains(got, c.want) || strings.Contains(got, "SECRET") {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
			s.set(func() {
				delete(s.replaced, "/token")
				s.lifetime = 3600
			})
			if got := hello(t, l, s); got != hi {
				t.Errorf("later: %s", got)
			}
		})
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

func elsewhere(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "http://evil.example/", http.StatusTemporaryRedirect)
}

// TestHostile has servers and authorization servers that are wrong or evil. Nothing is kept, and the authorization code
// is sent to nobody.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*stub)
		want   string
	}{
		"no PKCE":       {metadata("code_challenge_methods_supported", nil), "does not implement PKCE"},
		"other issuer":  {metadata("issuer", "https://evil.example"), `issuer "https://evil.example" does not match`},
		"plain text":    {metadata("token_endpoint", "http://evil.example/token"), "token_endpoint"},
		"a script":      {metadata("authorization_endpoint", "javascript:alert(1)"), "authorization_endpoint"},
		"long":          {redirect("error", strings.Repeat("x", 2000)), "the authorization server refused: xxx"},
		"no clients":    {metadata("registration_endpoint", nil), "no configured client registration methods"},
		"wrong iss":     {redirect("iss", "https://evil.example"), `issuer "https://evil.example" does not match`},
		"no iss":        {redirect("iss", ""), "none was received"},
		"refused":       {redirect("error", "access_denied"), "the authorization server refused: access_denied"},
		"token page":    {at("/token", page), "cannot parse json"},
		"token large":   {at("/token", endless), "the response is larger than 1 MiB"},
		"token moved":   {at("/token", elsewhere), "it redirects to http://evil.example, which is not followed"},
		"token refused": {at("/token", http.NotFound), "the token endpoint returned 404"},
		"other type": {at("/token", func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 200, map[string]any{"access_token": "SECRET", "token_type": "DPoP"})
		}), `its tokens have the type "DPoP"; only Bearer is supported`},
		"secret client": {at("/register", func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 201, map[string]any{"client_id": 7, "client_secret": "SECRET"})
		}), "failed to register client: failed to decode"},
		"large challenge": {at("/mcp", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			endless(w, r)
		}), "the response is larger than 1 MiB"},
		"large metadata": {at("/.well-known/oauth-authorization-server", endless), "the response is larger than 1 MiB"},
		"metadata page":  {at("/.well-known/oauth-authorization-server", page), "text/html"},
		"metadata moved": {at("/.well-known/oauth-authorization-server", elsewhere), "redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := newStub(t), logins(t)
			c.change(s)
			err := l.Login(t.Context(), s.config(), "tickets")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET") ||
				!strings.HasPrefix(err.Error(), `login: mcp server "tickets": `) || len(err.Error()) > 500 {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
			if r, err := l.load(keyOf(s.config().Servers[0])); r != nil || err != nil {
				t.Errorf("a login is kept: %v, %v", r, err)
			}
		})
	}
}

func metadata(name string, value any) func(*stub) { return func(s *stub) { s.metadata[name] = value } }

func at(path string, h http.HandlerFunc) func(*stub) { return func(s *stub) { s.replace(path, h) } }

// redirect changes a parameter of the redirect to the client.
func redirect(name, value string) func(*stub) {
	return func(s *stub) {
		s.replace("/authorize", func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			to := q.Get("redirect_uri") + "?code=code-1&state=" + q.Get("state")
			if value != "" {
				to += "&" + name + "=" + value
			}
			http.Redirect(w, r, to, http.StatusFound)
		})
	}
}

// TestState has somebody else who sends a code to the client. The client ignores it, and waits for the user.
func TestState(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.replace("/authorize", func(w http.ResponseWriter, r *http.Request) {
		callback := r.URL.Query().Get("redirect_uri")
		for _, forged := range []string{"?code=evil&state=evil", "?code=evil", "?error=evil"} {
			resp, err := http.Get(callback + forged)
			if err != nil {
				t.Error(err)
				continue
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %s", forged, resp.Status)
			}
		}
		s.authorize(w, r)
	})
	mustLogin(t, l, s)
	if len(s.forms) != 1 || s.forms[0].Get("code") != "code-1" {
		t.Errorf("exchanged: %v", s.forms)
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

// TestNoRefreshToken has a login that cannot be refreshed.
func TestNoRefreshToken(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.replace("/token", func(w http.ResponseWriter, _ *http.Request) {
		s.set(func() { s.valid["SECRET"] = true })
		reply(w, 200, map[string]any{"access_token": "SECRET", "token_type": "Bearer"})
	})
	mustLogin(t, l, s)
	if got := hello(t, l, s); got != hi {
		t.Error(got)
	}
	s.set(func() { clear(s.valid) })
	if got := hello(t, l, s); !strings.HasSuffix(got, "run tool -login tickets") || strings.Contains(got, "SECRET") {
		t.Errorf("after the token was revoked: %s", got)
	}
	revoked, err := l.Logout(t.Context(), s.config(), "tickets")
	if form := s.forms[len(s.forms)-1]; err != nil || !revoked || form.Get("token") != "SECRET" {
		t.Errorf("logout: %t, %v, %v", revoked, err, form)
	}
}

// TestConfidentialClient has an authorization server that gives the client a secret, and wants it in a header.
func TestConfidentialClient(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.replace("/register", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 201, map[string]any{
			"client_id": "a b", "client_secret": "c+d", "token_endpoint_auth_method": "client_secret_basic",
		})
	})
	authorized := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if id, secret, _ := r.BasicAuth(); id != "a+b" || secret != "c%2Bd" {
				reply(w, 401, map[string]any{"error": "invalid_client"})
				return
			}
			next(w, r)
		}
	}
	s.replace("/token", authorized(s.token))
	s.replace("/revoke", authorized(s.revoke))
	s.lifetime = 1
	mustLogin(t, l, s)
	if got := hello(t, l, s); got != hi {
		t.Error(got)
	}
	if revoked, err := l.Logout(t.Context(), s.config(), "tickets"); err != nil || !revoked {
		t.Errorf("logout: %t, %v", revoked, err)
	}
}

// TestTolerance has an authorization server that does not advertise the iss that it sends, and one that advertises
// offline_access, which the server does not ask for.
func TestTolerance(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.metadata["authorization_response_iss_parameter_supported"] = false
	s.metadata["scopes_supported"] = []string{"offline_access"}
	s.replace("/mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.URL+`/resource"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	mustLogin(t, l, s)
	if got := s.challenge.Get("scope"); got != "offline_access" {
		t.Errorf("the scope is %q", got)
	}
}

// TestForgedRevocation has a server whose own metadata names an endpoint for the tokens. It gets none.
func TestForgedRevocation(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.replace("/.well-known/oauth-authorization-server", http.NotFound) // endpoints have their usual paths
	s.replace("/resource", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{
			"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL},
			"token_endpoint": "https://evil.example", "revocation_endpoint": s.URL + "/revoke",
		})
	})
	s.replace("/authorize", func(w http.ResponseWriter, r *http.Request) {
		s.authorize(w, r)
		w.Header().Set("Location", strings.Replace(w.Header().Get("Location"), "iss=", "x=", 1))
	})
	err := l.Login(t.Context(), s.config(), "tickets")
	if revoked, _ := l.Logout(t.Context(), s.config(), "tickets"); err != nil || revoked {
		t.Errorf("login: %v; revoked: %t", err, revoked)
	}
}

// TestForgedRevocationOfAnother has an MCP server that claims to be told the tokens of another authorization server,
// which has no metadata, or whose metadata has no revocation endpoint.
func TestForgedRevocationOfAnother(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*stub){
		"no metadata": at("/.well-known/oauth-authorization-server", http.NotFound),
		"no endpoint": metadata("revocation_endpoint", nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l := newStub(t), logins(t)
			change(s)
			s.replace("/resource", func(w http.ResponseWriter, _ *http.Request) {
				reply(w, 200, map[string]any{
					"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL},
					"token_endpoint": s.URL + "/token", "revocation_endpoint": s.URL + "/evil",
				})
			})
			s.replace("/evil", func(_ http.ResponseWriter, r *http.Request) {
				t.Errorf("the MCP server got %q", r.FormValue("token"))
			})
			s.replace("/authorize", func(w http.ResponseWriter, r *http.Request) {
				s.authorize(w, r)
				if name == "no metadata" {
					w.Header().Set("Location", strings.Replace(w.Header().Get("Location"), "iss=", "x=", 1))
				}
			})
			mustLogin(t, l, s)
			if revoked, err := l.Logout(t.Context(), s.config(), "tickets"); revoked || err != nil {
				t.Errorf("revoked: %t, %v", revoked, err)
			}
		})
	}
}

// TestAddress has an authorization server whose address would control the user's terminal.
func TestAddress(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.metadata["authorization_endpoint"] = s.URL + "/authorize?a=\u009b2J\u202e"
	s.replace("/mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.URL+`/resource"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	show := l.o.Show
	l.o.Show = func(address string) {
		if address != display.Text(address) {
			t.Errorf("shown: %q", address)
		}
		show(address)
	}
	mustLogin(t, l, s)
}

// TestHeldConnection has another program that connects to the redirect server and never completes its request.
func TestHeldConnection(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	show := l.o.Show
	l.o.Show = func(address string) {
		u, _ := url.Parse(address)
		u, _ = url.Parse(u.Query().Get("redirect_uri"))
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = conn.Write([]byte("GET /callback HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"))
		time.Sleep(100 * time.Millisecond) // until the request is read
		show(address)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	start := time.Now()
	if err := l.Login(ctx, s.config(), "tickets"); err != nil || time.Since(start) > 8*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// TestCanceledRefresh has a request that is canceled while it refreshes the token: the new token is kept.
func TestCanceledRefresh(t *testing.T) {
	t.Parallel()
	s, l := newStub(t), logins(t)
	s.lifetime = 1
	mustLogin(t, l, s)
	ctx, cancel := context.WithCancel(t.Context())
	s.replace("/token", func(w http.ResponseWriter, r *http.Request) {
		cancel()
		s.token(w, r)
	})
	_, _ = l.Handler(s.config().Servers[0]).TokenSource(ctx)
	if r, err := l.load(keyOf(s.config().Servers[0])); err != nil || r.Token.AccessToken != "SECRET-access-2" {
		t.Errorf("the tokens were not kept: %v", err)
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
