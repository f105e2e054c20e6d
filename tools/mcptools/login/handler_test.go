package login

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/tools/mcptools"
)

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
