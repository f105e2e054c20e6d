package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/writ-go/writ/agent/codemode/serve"
)

// TestIntrospection has an authorization server that knows several tokens, some of which are for this
// server.
func TestIntrospection(t *testing.T) {
	t.Parallel()
	const resource = "https://writ.example/tools/mcp"
	soon := time.Now().Add(time.Hour).Unix()
	known := map[string]map[string]any{
		"good-string":  {"active": true, "sub": "ada", "aud": resource, "exp": soon, "scope": "a tools"},
		"good-list":    {"active": true, "sub": "bob", "aud": []string{"x", resource}, "scope": "tools"},
		"revoked":      {"active": false, "sub": "ada", "aud": resource, "exp": soon, "scope": "tools"},
		"for-another":  {"active": true, "sub": "ada", "aud": "https://other.example", "exp": soon, "scope": "tools"},
		"for-nobody":   {"active": true, "sub": "ada", "aud": nil, "exp": soon, "scope": "tools"},
		"expired":      {"active": true, "sub": "ada", "aud": resource, "exp": 1000, "scope": "tools"},
		"good-client":  {"active": true, "client_id": "ada", "aud": resource, "exp": soon, "scope": "tools"},
		"no-subject":   {"active": true, "aud": resource, "exp": soon, "scope": "tools"},
		"no-name":      {"active": true, "sub": " ", "client_id": "ada", "aud": resource, "exp": soon, "scope": "tools"},
		"no-text":      {"active": true, "client_id": "\ufffd", "aud": resource, "exp": soon, "scope": "tools"},
		"good-both":    {"active": true, "sub": "bob", "client_id": "ada", "aud": resource, "exp": soon, "scope": "tools"},
		"unscoped":     {"active": true, "sub": "ada", "aud": resource, "exp": soon},
		"broken-large": {"active": true, "sub": "ada", "aud": resource, "x": strings.Repeat("x", 100_000)},
		"broken-type":  {"active": "true"},
	}
	issuer := newIssuer(t, known)
	a, err := serve.Introspection{
		Issuer: issuer.URL, Endpoint: issuer.URL + "/introspect", Resource: resource,
		ClientID: "writ", ClientSecret: "secret+of %this server",
	}.Auth()
	if err != nil {
		t.Fatal(err)
	}
	a.Scopes = []string{"tools"}
	r, h := mount(t, &serve.Options{Auth: a}, bare, plain)
	known["unknown"], known["redirected"], known["broken-status"] = nil, nil, nil
	for token := range known {
		want := http.StatusUnauthorized
		switch kind, _, _ := strings.Cut(token, "-"); kind {
		case "good":
			want = http.StatusOK
		case "unscoped":
			want = http.StatusForbidden
		case "broken", "redirected":
			want = http.StatusInternalServerError
		}
		if a := r.post(initialize, "Authorization", "Bearer "+token); a.status != want {
			t.Errorf("%s: %d %s, want %d", token, a.status, a.body, want)
		}
	}
	for token, want := range map[string]string{
		"good-string": issuer.URL + " ada", "good-list": issuer.URL + " bob", "good-both": issuer.URL + " bob",
		"good-client": "client " + issuer.URL + " ada",
	} {
		if got := mustCall(t, r.client(newEra, token, nil), "who"); got != want {
			t.Errorf("%s: got %q, want %q", token, got, want)
		}
	}
	w := httptest.NewRecorder()
	const path = "/.well-known/oauth-protected-resource/tools/mcp" // without StripPrefix
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
	var metadata oauthex.ProtectedResourceMetadata
	if err := json.Unmarshal(w.Body.Bytes(), &metadata); err != nil || metadata.Resource != resource ||
		!slices.Equal(metadata.AuthorizationServers, []string{issuer.URL}) {
		t.Errorf("metadata: %d %s %v", w.Code, w.Body, err)
	}
}

// newIssuer starts an authorization server.
func newIssuer(t *testing.T, known map[string]map[string]any) *httptest.Server {
	t.Helper()
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		token := r.PostFormValue("token")
		switch {
		case id != "writ" || secret != "secret%2Bof+%25this+server" || token == "broken-status":
			http.Error(w, "unknown client", http.StatusUnauthorized)
			return
		case token == "redirected":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		case r.URL.Path != "/introspect":
			t.Errorf("the token %q was sent to %s", token, r.URL)
		}
		answer := known[token]
		if answer == nil {
			answer = map[string]any{"active": false}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(issuer.Close)
	return issuer
}

// TestIntrospectionErrors lists all invalid fields.
func TestIntrospectionErrors(t *testing.T) {
	t.Parallel()
	good := serve.Introspection{
		Issuer: "https://login.example", Endpoint: "http://[::1]:80/introspect", Resource: "http://localhost:8080/mcp",
		ClientID: "writ", ClientSecret: "secret",
	}
	if _, err := good.Auth(); err != nil {
		t.Error(err)
	}
	bad := serve.Introspection{Issuer: "http://login.example", Endpoint: "127.0.0.1:80", Resource: "ftp://localhost/mcp"}
	want := `introspection: Issuer must be a URL with https, not "http://login.example"
introspection: Endpoint must be a URL with https, not "127.0.0.1:80"
introspection: Resource must be a URL with https, not "ftp://localhost/mcp"
introspection: ClientID is not set
introspection: ClientSecret is not set`
	if a, err := bad.Auth(); a != nil || err == nil || err.Error() != want {
		t.Errorf("got %v and\n%v\nwant\n%s", a, err, want)
	}
}

// TestIntrospectionAnswers checks that answers are read exactly. What another program may understand
// differently is refused.
func TestIntrospectionAnswers(t *testing.T) {
	t.Parallel()
	const resource = "https://writ.example/tools/mcp"
	now := time.Now().Unix()
	var issuer *httptest.Server
	answers := map[string]struct {
		answer string
		status int
	}{
		"plain":          {`{"active":true,"sub":"ada"}`, 200},
		"fraction":       {fmt.Sprintf(`{"active":true,"sub":"ada","exp":%d.5,"nbf":%d.5}`, now+100, now-100), 200},
		"exponent":       {`{"active":true,"sub":"ada","exp":1e11,"nbf":1.5e9}`, 200},
		"huge":           {`{"active":true,"sub":"ada","exp":9223372036854775807}`, 200},
		"null":           {`{"active":true,"sub":"ada","exp":null,"nbf":null,"iss":null}`, 200},
		"issuer":         {`{"active":true,"sub":"ada","iss":"ISSUER"}`, 200},
		"unknown":        {`{"active":true,"sub":"ada","Username":"Ada"}`, 200},
		"zero":           {`{"active":true,"sub":"ada","exp":0}`, 401},
		"negative":       {`{"active":true,"sub":"ada","exp":-1e300}`, 401},
		"past":           {fmt.Sprintf(`{"active":true,"sub":"ada","exp":%d.5}`, now-2), 401},
		"early":          {fmt.Sprintf(`{"active":true,"sub":"ada","nbf":%d}`, now+100), 401},
		"other-issuer":   {`{"active":true,"sub":"ada","iss":"https://evil.example"}`, 401},
		"space":          {`{"active":true,"sub":" \t"}`, 401},
		"bytes":          {"{\"active\":true,\"sub\":\"\xff\"}", 401},
		"surrogate":      {`{"active":true,"sub":"\ud800"}`, 401},
		"nothing":        {`null`, 401},
		"text":           {`{"active":true,"sub":"ada","exp":"99999999999"}`, 500},
		"twice":          {`{"active":false,"active":true,"sub":"ada"}`, 500},
		"upper-case":     {`{"active":false,"ACTIVE":true,"sub":"ada"}`, 500},
		"folded":         {`{"active":true,"sub":"ada","\u017fub":"bob"}`, 500},
		"trailing":       {`{"active":true,"sub":"ada"} {}`, 500},
		"trailing-large": {`{"active":true,"sub":"ada"}` + strings.Repeat(" ", 64<<10) + "x", 500},
		"list":           {`[{"active":true,"sub":"ada"}]`, 500},
		"empty":          {``, 500},
	}
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := strings.Replace(answers[r.PostFormValue("token")].answer, `"sub"`, `"aud":"`+resource+`","sub"`, 1)
		_, _ = io.WriteString(w, strings.ReplaceAll(answer, "ISSUER", issuer.URL))
	}))
	t.Cleanup(issuer.Close)
	a, err := serve.Introspection{
		Issuer: issuer.URL, Endpoint: issuer.URL, Resource: resource, ClientID: "writ", ClientSecret: "secret",
	}.Auth()
	if err != nil {
		t.Fatal(err)
	}
	r, _ := mount(t, &serve.Options{Auth: a}, bare, plain)
	for token, c := range answers {
		if a := r.post(callWho, "Authorization", "Bearer "+token); a.status != c.status {
			t.Errorf("%s: %d %s, want %d", token, a.status, a.body, c.status)
		}
	}
}
