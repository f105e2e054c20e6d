package login

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/display"
)

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
