package login

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/zalando/go-keyring"
)

func TestMain(m *testing.M) {
	keyring.MockInit() // never the keyring of the person who runs the tests
	os.Exit(m.Run())
}

// stub is an MCP server and its authorization server. Tests replace its handlers and change its metadata.
type stub struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	metadata  map[string]any          // of the authorization server
	replaced  map[string]http.Handler // by path
	challenge url.Values              // of the last authorization request
	valid     map[string]bool         // access tokens
	refresh   string                  // the refresh token that is valid
	n         int                     // number of tokens
	forms     []url.Values            // what the token and revocation endpoints received
	lifetime  int                     // of access tokens, in seconds
}

func newStub(t *testing.T) *stub {
	s := &stub{t: t, valid: map[string]bool{}, replaced: map[string]http.Handler{}, lifetime: 3600}
	protected := mcp.NewServer(&mcp.Implementation{Name: "stub"}, nil)
	mcp.AddTool(protected, &mcp.Tool{Name: "hello"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hi"}}}, nil, nil
		})
	served := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return protected }, nil)
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		ok := s.valid[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		s.mu.Unlock()
		if !ok {
			w.Header().Set("WWW-Authenticate",
				`Bearer resource_metadata="`+s.URL+`/resource", scope="tools offline_access"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		served.ServeHTTP(w, r)
	})
	mux.HandleFunc("/resource", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		reply(w, 200, s.metadata)
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var client map[string]any
		_ = json.NewDecoder(r.Body).Decode(&client)
		client["client_id"] = "client-1"
		reply(w, 201, client)
	})
	mux.HandleFunc("/authorize", s.authorize)
	mux.HandleFunc("/token", s.token)
	mux.HandleFunc("/revoke", s.revoke)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		h := s.replaced[r.URL.Path]
		s.mu.Unlock()
		if h == nil {
			h = mux
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	s.metadata = map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke",
		"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true,
	}
	return s
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// authorize stands for a user who agrees.
func (s *stub) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.challenge = r.URL.Query()
	to := s.challenge.Get("redirect_uri") + "?" + url.Values{
		"code": {"code-1"}, "state": {s.challenge.Get("state")}, "iss": {s.URL},
	}.Encode()
	http.Redirect(w, r, to, http.StatusFound)
}

func (s *stub) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = r.ParseForm()
	s.forms = append(s.forms, r.Form)
	sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	switch {
	case r.Form.Get("resource") != s.URL+"/mcp":
		reply(w, 400, map[string]any{"error": "invalid_target"})
		return
	case r.Form.Get("grant_type") == "authorization_code" && r.Form.Get("code") == "code-1" &&
		base64.RawURLEncoding.EncodeToString(sum[:]) == s.challenge.Get("code_challenge"):
	case r.Form.Get("grant_type") == "refresh_token" && r.Form.Get("refresh_token") == s.refresh:
	default:
		reply(w, 400, map[string]any{"error": "invalid_grant", "error_description": "no"})
		return
	}
	s.n++
	access := fmt.Sprintf("SECRET-access-%d", s.n)
	s.valid[access], s.refresh = true, fmt.Sprintf("SECRET-refresh-%d", s.n) // rotation
	reply(w, 200, map[string]any{
		"access_token": access, "token_type": "bearer", "refresh_token": s.refresh, "expires_in": s.lifetime,
	})
}

func (s *stub) revoke(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = r.ParseForm()
	s.forms = append(s.forms, r.Form)
	if r.Form.Get("token") == s.refresh {
		s.refresh = ""
		clear(s.valid)
	}
}

// set changes the stub, which may be in use.
func (s *stub) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// replace replaces what the stub answers at a path.
func (s *stub) replace(path string, h http.HandlerFunc) { s.set(func() { s.replaced[path] = h }) }

func (s *stub) config() *mcptools.Config {
	return &mcptools.Config{Servers: []mcptools.ServerConfig{{Name: "tickets", URL: s.URL + "/mcp"}}}
}

// browse stands for the user's browser, which follows redirects.
func browse(t *testing.T) func(string) {
	return func(address string) {
		go func() {
			resp, err := http.Get(address)
			if err != nil {
				return
			}
			defer resp.Body.Close()
			if page, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
				t.Errorf("the browser shows %s: %s", resp.Status, page)
			}
		}()
	}
}

func logins(t *testing.T) *Logins {
	return New(&Options{Command: "tool -login", Folder: t.TempDir() + "/new/logins", NoKeyring: true, Show: browse(t)})
}

func mustLogin(t *testing.T, l *Logins, s *stub) {
	t.Helper()
	if err := l.Login(t.Context(), s.config(), "tickets"); err != nil {
		t.Fatal(err)
	}
}

// hello connects to the stub, calls its tool, and returns the result or the error. Nothing that is logged has a secret.
func hello(t *testing.T, l *Logins, s *stub) string {
	t.Helper()
	servers, err := mcptools.Start(t.Context(), s.config(), &mcptools.Options{OAuth: l.Handler})
	if err != nil {
		return err.Error()
	}
	defer servers.Close()
	return call(t, servers)
}

func call(t *testing.T, servers *mcptools.Servers) string {
	t.Helper()
	all, err := servers.Tools(t.Context())
	if err != nil || len(all) != 1 {
		return fmt.Sprint(len(all), " tools: ", err)
	}
	result, err := all[0].Handler(t.Context(), []byte("{}"))
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(result))
}
