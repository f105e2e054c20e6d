// Package login logs in to remote MCP servers with OAuth, and keeps the tokens for later runs. Only programs that use
// it link the keyring.
//
//	logins := login.New(&login.Options{Command: "mytool -login"})
//	err := logins.Login(ctx, config, "tickets") // once, with the user
//	servers, err := mcptools.Start(ctx, config, &mcptools.Options{OAuth: logins.Handler})
//
// Login performs the authorization code flow with PKCE as the MCP specification says: it finds the authorization server
// (RFC 9728, RFC 8414), registers a client (RFC 7591), and receives the code on a port of this machine. The tokens are
// only for that server (RFC 8707), and appear in no error and no log.
package login

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/writ-go/writ/tools/mcptools"
	"golang.org/x/oauth2"
)

// Options configure [New]. The zero value of every field but Command is its default.
type Options struct {
	// Command is the command that calls Login, such as "mytool -login". Errors recommend it.
	Command string

	// Folder has the tokens that the system's keyring does not take, in files that only the user can read, and locks
	// for processes that share a login. Empty means writ/logins in [os.UserConfigDir].
	Folder string

	// NoKeyring keeps all tokens in Folder.
	NoKeyring bool

	// Show shows the user the address at which to log in. Nil writes it to stderr.
	Show func(address string)
}

// Logins are a user's logins. They are safe for concurrent use, also by several processes.
type Logins struct {
	o    Options
	http *http.Client
}

// New returns the logins that are kept where the options say. Nil Options are the defaults.
func New(o *Options) *Logins {
	l := &Logins{http: newHTTP(func(string, []byte) {})}
	if o != nil {
		l.o = *o
	}
	if l.o.Folder == "" {
		base, _ := os.UserConfigDir() // without one, creating the folder fails
		l.o.Folder = filepath.Join(base, "writ", "logins")
	}
	if l.o.Show == nil {
		l.o.Show = func(address string) {
			fmt.Fprintf(os.Stderr, "Log in at this address:\n\n%s\n\nIf your browser is on another machine, it cannot "+
				"load its last page. Then run curl on this machine with the address of that page.\n", address)
		}
	}
	return l
}

// Login lets the user log in to a server in the configuration, and keeps the tokens. It replaces an earlier login, and
// waits for the user until ctx is done. If the user's browser is on another machine, it cannot load the last page of
// the login; a request to the address of that page on this machine completes the login.
func (l *Logins) Login(ctx context.Context, c *mcptools.Config, server string) error {
	s, err := find(c, server)
	if err != nil {
		return err
	}
	if err = l.login(ctx, s); err != nil {
		err = fmt.Errorf("login: mcp server %q: %w", server, brief(err))
	}
	return err
}

// Logout removes the tokens for a server from this machine, and revokes them. It returns false if the authorization
// server does not support revocation (RFC 7009); the tokens are then valid until they expire. If revoking fails, it
// returns an error, but the tokens are removed.
func (l *Logins) Logout(ctx context.Context, c *mcptools.Config, server string) (revoked bool, err error) {
	s, err := find(c, server)
	if err != nil {
		return false, err
	}
	unlock, err := l.lock(ctx, keyOf(s))
	if err != nil {
		return false, err
	}
	defer unlock()
	r, err := l.load(keyOf(s))
	if err == nil && r == nil {
		return false, fmt.Errorf("login: there is no login to mcp server %q; nothing to do", server)
	}
	if removing := l.save(keyOf(s), nil); removing != nil {
		return false, removing
	}
	if err != nil || r.RevocationURL == "" {
		return false, err
	}
	if err := l.revoke(ctx, r); err != nil {
		return false, fmt.Errorf("login: the tokens are removed from this machine, but mcp server %q may still accept "+
			"them: revoking them failed: %w", server,
			brief(err, r.Token.RefreshToken, r.Token.AccessToken, r.ClientSecret))
	}
	return true, nil
}

// find returns a remote server in a configuration.
func find(c *mcptools.Config, name string) (s mcptools.ServerConfig, err error) {
	if c == nil {
		c = &mcptools.Config{}
	}
	i := slices.IndexFunc(c.Servers, func(s mcptools.ServerConfig) bool { return s.Name == name && s.URL != "" })
	if i < 0 {
		return s, fmt.Errorf("login: the configuration has no mcp server %q with a URL; check the name", name)
	}
	return c.Servers[i], nil
}

// flow is the authorization code flow for one login.
type flow struct {
	*Logins
	server   mcptools.ServerConfig
	listener net.Listener // receives the code from the browser
	resource string
	metadata struct { // of the authorization server; the SDK does not pass it on
		Token      string `json:"token_endpoint"`
		Revocation string `json:"revocation_endpoint"`
	}
}

const callback = "/callback"

func (l *Logins) login(ctx context.Context, s mcptools.ServerConfig) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	f, redirect := &flow{Logins: l, server: s, listener: listener}, "http://"+listener.Addr().String()+callback
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		AuthorizationCodeFetcher: f.fetch,
		NewTokenSource:           f.keep,
		RequestRefreshToken:      true,
		AcceptUnadvertisedIss:    true, // a wrong one is rejected in any case
		Client:                   newHTTP(f.note),
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: "writ", RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none",
				GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
			},
		},
	})
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, l.http.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(short, http.MethodPost, s.URL, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	resp, err := l.http.Transport.RoundTrip(req)
	if err != nil {
		return err
	}
	resp.StatusCode = http.StatusUnauthorized // a server may let everybody connect, and protect its tools
	return handler.Authorize(ctx, req, resp)
}

// fetch is an [auth.AuthorizationCodeFetcher]. It ignores requests without the state of this login, which other
// programs and web pages may send.
func (f *flow) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil {
		return nil, err
	}
	query := u.Query()
	f.resource = query.Get("resource")
	if slices.Contains(strings.Fields(query.Get("scope")), "offline_access") { // OpenID requires consent
		query.Set("prompt", "consent")
	}
	u.RawQuery = query.Encode() // also escapes characters that would control a terminal
	received := make(chan url.Values, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callback, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("state") != query.Get("state") {
			http.Error(w, "This is not the login that is in progress; start again.", http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, "You can close this page. The program says whether you are logged in.\n")
		select {
		case received <- q:
		default: // the browser has repeated the request
		}
	})
	server := &http.Server{Handler: mux, ReadTimeout: 3 * time.Second} // Shutdown waits for requests
	go func() { _ = server.Serve(f.listener) }()
	defer func() { _ = server.Shutdown(ctx) }()
	f.o.Show(u.String())
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the user: %w", context.Cause(ctx))
	case q := <-received:
		if refused := q.Get("error"); refused != "" {
			return nil, fmt.Errorf("the authorization server refused: %s %s", refused, q.Get("error_description"))
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	}
}

// note notes the authorization server's metadata: what is fetched last. What is fetched before comes from the MCP
// server, which must not determine where tokens are revoked.
func (f *flow) note(method string, body []byte) {
	if method == http.MethodGet {
		f.metadata.Token, f.metadata.Revocation = "", ""
		_ = json.Unmarshal(body, &f.metadata)
	}
}

// keep keeps the tokens. The SDK calls it with them.
func (f *flow) keep(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	if t.Type() != "Bearer" {
		return nil, fmt.Errorf("its tokens have the type %.20q; only Bearer is supported", t.Type())
	}
	r := &record{
		Server: f.server.Name, Resource: f.resource, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle, Token: *t,
	}
	if f.metadata.Token == r.TokenURL {
		r.RevocationURL = f.metadata.Revocation
	}
	unlock, err := f.lock(context.Background(), keyOf(f.server))
	if err != nil {
		return nil, err
	}
	defer unlock()
	return oauth2.StaticTokenSource(t), f.save(keyOf(f.server), r)
}
