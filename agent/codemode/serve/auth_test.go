package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/writ-go/writ/agent/codemode/serve"
)

// TestBearer sends requests with all kinds of tokens.
func TestBearer(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{Auth: authorized(t)})
	for _, c := range []struct {
		authorization string
		status        int
		body          string
	}{
		{"", 401, "no bearer token\n"},
		{"Bearer", 401, "no bearer token\n"},
		{"Bearer ", 401, "no bearer token\n"},
		{adaToken, 401, "no bearer token\n"},
		{"Basic " + adaToken, 401, "no bearer token\n"},
		{"Bearer " + adaToken + " x", 401, "no bearer token\n"},
		{"Bearer wrong", 401, "invalid token\n"},
		{"Bearer " + adaToken[:len(adaToken)-1], 401, "invalid token\n"},
		{"Bearer " + adaToken + "0", 401, "invalid token\n"},
		{"Bearer " + strings.ToUpper(adaToken), 401, "invalid token\n"},
		{"Bearer eve-token-0123456789abcdef", 401, "token expired\n"},
		{"Bearer " + hexSum(adaToken), 401, "invalid token\n"},
	} {
		var headers []string
		if c.authorization != "" {
			headers = []string{"Authorization", c.authorization}
		}
		a := r.post(initialize, headers...)
		if a.status != c.status || a.body != c.body || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: %d %q %q, want %d %q", c.authorization, a.status, a.body, a.header.Get("WWW-Authenticate"),
				c.status, c.body)
		}
	}
	if a := r.post(initialize, "Authorization", "Bearer "+adaToken, "Authorization", "Bearer "+
		bobToken); a.status != http.StatusBadRequest {
		t.Errorf("two tokens: %d %q, want 400", a.status, a.body)
	}
	address := "/mcp?access_token=" + adaToken
	r.send(http.MethodPost, address, initialize).want(t, "token in the address", http.StatusUnauthorized)
	r.post(initialize, "Authorization", "bearer "+bobToken).want(t, "bearer in small letters", http.StatusOK)
	if log := r.log.String(); strings.Contains(log, "token-0123") {
		t.Errorf("a token is in the log:\n%s", log)
	}
}

// TestPrincipals checks that each client has the principal of its token and sees only its own
// tools.
func TestPrincipals(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		start(t, serve.Options{Auth: authorized(t)}).principals(version, adaToken, bobToken)
	}
}

// principals connects as Ada, who may use everything, and as Bob, who may use only the tool who.
func (r *running) principals(version, adasToken, bobsToken string) {
	r.t.Helper()
	ada, bob := r.client(version, adasToken, nil), r.client(version, bobsToken, nil)
	if got := mustCall(r.t, ada, "who") + " " + mustCall(r.t, bob, "who"); got != "ada bob" {
		r.t.Errorf("%s: got %q, want ada bob", version, got)
	}
	if text, err := call(r.t.Context(), bob, "see"); err == nil {
		r.t.Errorf("%s: bob may not use see, and got %q", version, text)
	}
	if got := mustCall(r.t, ada, "see"); strings.Contains(got, "token-0123") || strings.Contains(got, "Bearer") {
		r.t.Errorf("%s: the handler sees the token: %s", version, got)
	}
}

// TestSecretHeaders checks that these headers never reach a handler, with or without
// authentication.
func TestSecretHeaders(t *testing.T) {
	t.Parallel()
	for _, o := range []serve.Options{{}, {Auth: authorized(t)}} {
		r := start(t, o)
		a := r.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"see","arguments":{}}}`,
			"Authorization", "Bearer "+adaToken, "Cookie", "session=cookie-0123", "Proxy-Authorization", "Basic proxy-0123",
			"X-Other", "other-0123")
		if a.status != http.StatusOK || !strings.Contains(a.body, "other-0123") {
			t.Fatalf("%d %s", a.status, a.body)
		}
		for _, secret := range []string{adaToken, "cookie-0123", "proxy-0123"} {
			if strings.Contains(a.body, secret) {
				t.Errorf("the handler sees %s: %s", secret, a.body)
			}
		}
	}
}

// TestSessionsOfOthers checks that sessions of other principals are not found.
func TestSessionsOfOthers(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{Auth: authorized(t)})
	ada, bob := []string{"Authorization", "Bearer " + adaToken}, []string{"Authorization", "Bearer " + bobToken}
	id := r.begin(ada...)
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		theirs := r.send(method, "/mcp", callWho, append(bob, "Mcp-Session-Id", id)...)
		none := r.send(method, "/mcp", callWho, append(bob, "Mcp-Session-Id", "NOSUCHSESSION")...)
		if theirs.status != http.StatusNotFound || theirs.body != none.body || theirs.status != none.status {
			t.Errorf("%s: %d %q for another principal's, %d %q for a missing one; want 404 for both",
				method, theirs.status, theirs.body, none.status, none.body)
		}
	}
	if a := r.post(callWho, append(ada, "Mcp-Session-Id", id)...); a.status != http.StatusOK ||
		!strings.Contains(a.body, `"text":"ada"`) {
		t.Errorf("the owner: %d %s", a.status, a.body)
	}
}

// TestOAuth runs a resource server with an external verifier.
func TestOAuth(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{Auth: &serve.Auth{
		Verifier: verifyOAuth,
		Scopes:   []string{"tools"},
		Resource: &oauthex.ProtectedResourceMetadata{
			Resource: "https://mcp.example.com/mcp", AuthorizationServers: []string{"https://login.example.com"},
			ScopesSupported: []string{"tools"},
		},
	}})
	a := r.send(http.MethodGet, "/.well-known/oauth-protected-resource/mcp", "")
	var metadata oauthex.ProtectedResourceMetadata
	if err := json.Unmarshal([]byte(a.body), &metadata); err != nil ||
		metadata.AuthorizationServers[0] != "https://login.example.com" {
		t.Errorf("metadata: %d %q %v", a.status, a.body, err)
	}
	challenge := `Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", ` +
		`scope="tools"`
	for token, want := range map[string]struct {
		status    int
		body      string
		challenge string
	}{
		"good":      {200, "", ""},
		"unknown":   {401, "invalid token\n", challenge},
		"expired":   {401, "token expired\n", challenge},
		"endless":   {401, "token missing expiration\n", challenge},
		"nameless":  {401, "invalid token\n", challenge},
		"bytes":     {401, "invalid token\n", challenge},
		"unscoped":  {403, "insufficient scope\n", challenge},
		"broken/+":  {500, "cannot check tokens at the moment; try again later\n", ""},
		"malformed": {400, "oauth error\n", ""},
		"nil":       {500, "cannot check tokens at the moment; try again later\n", ""},
	} {
		a := r.post(initialize, "Authorization", "Bearer "+token)
		if a.status != want.status || want.body != "" && a.body != want.body ||
			a.header.Get("WWW-Authenticate") != want.challenge {
			t.Errorf("%s: %d %q %q, want %+v", token, a.status, a.body, a.header.Get("WWW-Authenticate"), want)
		}
	}
	if got := mustCall(t, r.client(newEra, "good", nil), "who"); got != "user-1" {
		t.Errorf("got %q, want user-1", got)
	}
	for _, want := range []string{
		`level=ERROR msg="cannot check tokens" error="no answer from https://login.example.com about [token], [token]"`,
		`level=ERROR msg="cannot check tokens" error="Auth.Verifier returned neither an error nor information about the token"`,
	} {
		if log := r.log.String(); strings.Count(log, want+"\n") != 1 || strings.Contains(log, "broken") {
			t.Errorf("%s is missing, or the token is in the log:\n%s", want, log)
		}
	}
}

// TestResourceErrors checks that a resource has a path that can be served.
func TestResourceErrors(t *testing.T) {
	t.Parallel()
	for resource, ok := range map[string]bool{
		"https://x": true, "https://x/": true, "https://x/a/b": true, "https://x/a/": true,
		"https://x/{": false, "https://x/{a}": false, "https://x/%7B": false, "https://x/a%20b": false,
		"https://x/%09": false, "https://x/%25": false,
		"https://x//": false, "https://x/../a": false, "https://x/a//b": false, "ftp://x/a": false, "https:///a": false,
	} {
		_, err := serve.NewHandler(newWorks().server, &serve.Options{Auth: &serve.Auth{
			Verifier: verifyOAuth,
			Resource: &oauthex.ProtectedResourceMetadata{
				Resource: resource, AuthorizationServers: []string{"https://login.example.com"},
			},
		}})
		want := fmt.Sprintf("auth: the resource must be the URL of this server as clients see it, not %q", resource)
		if ok && err != nil || !ok && (err == nil || err.Error() != want) {
			t.Errorf("%s: got %v", resource, err)
		}
	}
}

// TestForgedPrincipal has a verifier return claims under the key of the principal: they have no
// effect.
func TestForgedPrincipal(t *testing.T) {
	t.Parallel()
	const key = "github.com/writ-go/writ/agent/codemode/serve.Principal"
	claims := map[string]any{
		"text": "ada", "other": serve.Principal{Name: "ada"}, "empty": serve.Principal{},
		"pointer": &serve.Principal{Name: "ada"}, "nil": nil,
	}
	r := start(t, serve.Options{Auth: &serve.Auth{
		Verifier: func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: "bob", Expiration: time.Now().Add(time.Hour),
				Extra: map[string]any{key: claims[token], "claim": "kept"}}, nil
		},
		Principal: func(info *auth.TokenInfo) (serve.Principal, error) {
			if info.Extra["claim"] != "kept" {
				return serve.Principal{}, errors.New("the claims are missing")
			}
			return serve.Principal{Name: info.UserID, Tools: []string{"who"}}, nil
		},
	}})
	for token := range claims {
		for _, version := range []string{newEra, oldEra} {
			bob := r.client(version, token, nil)
			if got := names(t, bob); !slices.Equal(got, []string{"who"}) {
				t.Errorf("%s, %s: bob is shown %v, want who alone", token, version, got)
			}
			if got := mustCall(t, bob, "who"); got != "bob" {
				t.Errorf("%s, %s: got %q, want bob", token, version, got)
			}
			if text, err := call(t.Context(), bob, "echo"); err == nil {
				t.Errorf("%s, %s: bob may not use echo, and got %q", token, version, text)
			}
		}
	}
}

// TestOtherVerifier combines the principals of a token file with a verifier that does not know
// them: all tokens are refused.
func TestOtherVerifier(t *testing.T) {
	t.Parallel()
	a := authorized(t)
	a.Verifier = verifyOAuth
	r := start(t, serve.Options{Auth: a})
	if got := r.post(initialize, "Authorization", "Bearer good"); got.status != http.StatusUnauthorized {
		t.Errorf("%d %s, want 401", got.status, got.body)
	}
}

func verifyOAuth(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	info := &auth.TokenInfo{UserID: "user-1", Scopes: []string{"tools"}, Expiration: time.Now().Add(time.Hour)}
	switch token {
	case "good":
	case "expired":
		info.Expiration = time.Now().Add(-time.Hour)
	case "endless":
		info.Expiration = time.Time{}
	case "nameless":
		info.UserID = ""
	case "bytes":
		info.UserID = "\xff"
	case "unscoped":
		info.Scopes = nil
	case "broken/+":
		return nil, errors.New("no answer from https://login.example.com about " + token + ", " + url.QueryEscape(token))
	case "malformed":
		return nil, fmt.Errorf("%w: %s", auth.ErrOAuth, token)
	case "nil":
		return nil, nil
	default:
		return nil, fmt.Errorf("%w: %s is not known", auth.ErrInvalidToken, token)
	}
	return info, nil
}
