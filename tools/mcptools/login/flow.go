package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/writ-go/writ/tools/mcptools"
	"golang.org/x/oauth2"
)

// flow is one authorization code flow. It is the SDK's handler, which performs the flow once.
type flow struct {
	*auth.AuthorizationCodeHandler
	logins   *Logins
	server   mcptools.ServerConfig
	listener net.Listener // for the redirect of the user's browser
	client   *client
	resource string
	saved    atomic.Bool
}

const callback = "/callback"

func (l *Logins) newFlow(ctx context.Context, s mcptools.ServerConfig) (*flow, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", s.OAuth.Port))
	if err != nil {
		return nil, fmt.Errorf("waiting for the browser: %w", err)
	}
	f := &flow{logins: l, server: s, listener: listener, client: l.newClient()}
	redirect := "http://" + listener.Addr().String() + callback
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:              redirect,
		AuthorizationCodeFetcher: f.fetch,
		RequestRefreshToken:      true,
		AcceptUnadvertisedIss:    true, // one that differs is rejected
		Client:                   f.client.http(),
		NewTokenSource:           f.save,
	}
	if s.OAuth.Scopes != nil {
		c.ScopeFilter = func([]string) []string { return s.OAuth.Scopes }
	}
	if s.OAuth.ClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: s.OAuth.ClientID}
		if s.OAuth.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: s.OAuth.ClientSecret}
		}
	} else {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: "writ", RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none",
				GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
			},
		}
	}
	if f.AuthorizationCodeHandler, err = auth.NewAuthorizationCodeHandler(c); err != nil {
		_ = listener.Close()
		return nil, err
	}
	return f, nil
}

// Authorize implements [auth.OAuthHandler].
func (f *flow) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	if f.saved.Load() {
		_ = resp.Body.Close()
		return errors.New("it rejects the token that its authorization server has just issued")
	}
	return brief(f.AuthorizationCodeHandler.Authorize(ctx, req, resp))
}

// unasked performs the flow for a server that did not ask for it.
func (f *flow) unasked(ctx context.Context, server string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server, nil)
	if err != nil {
		return err
	}
	resp := &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody}
	if err := f.Authorize(ctx, req, resp); err != nil {
		return fmt.Errorf("it did not ask for a login, and trying to log in failed: %w", err)
	}
	return nil
}

// fetch is an [auth.AuthorizationCodeFetcher].
func (f *flow) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil || !secure(u) {
		return nil, errors.New("its authorization endpoint has no https URL, so logging in is not safe")
	}
	query := u.Query()
	f.resource = query.Get("resource")
	if slices.Contains(strings.Fields(query.Get("scope")), "offline_access") { // ignored without this (OpenID Connect 11)
		query.Set("prompt", "consent")
		u.RawQuery = query.Encode()
	}
	received := make(chan url.Values, 1)
	server := &http.Server{Handler: receive(query.Get("state"), received), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(f.listener) }()
	defer server.Close()
	f.logins.o.Show(u.String())
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the user: %w", context.Cause(ctx))
	case q := <-received:
		ending, cancel := context.WithTimeout(ctx, time.Second) // the browser is still reading the page
		defer cancel()
		_ = server.Shutdown(ending)
		if refused := q.Get("error"); refused != "" {
			return nil, fmt.Errorf("the authorization server refused: %s %s", refused, q.Get("error_description"))
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	}
}

// receive returns a handler for the redirect. It ignores requests without the state of this login, which other
// programs and web pages may send.
func receive(state string, received chan<- url.Values) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.Method != http.MethodGet || r.URL.Path != callback:
			http.NotFound(w, r)
		case q.Get("state") != state:
			http.Error(w, "This is not the login that is in progress. Start again.", http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, "You can close this page. The program tells you whether the login succeeded.\n")
			select {
			case received <- q:
			default: // a second request
			}
		}
	})
}

// save keeps the tokens. The SDK calls it with them.
func (f *flow) save(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	if !strings.EqualFold(t.Type(), "Bearer") {
		return nil, fmt.Errorf("its tokens have the type %.20q; only Bearer is supported", t.Type())
	}
	r := &record{
		Server: f.server.Name, Resource: f.resource, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle, Token: *t,
		RevocationURL: f.client.revocationOf(c.Endpoint.TokenURL),
	}
	k := keyOf(f.server)
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	unlock, err := f.logins.store.lock(ctx, k)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := f.logins.store.save(k, r); err != nil {
		return nil, fmt.Errorf("keeping the tokens: %w", err)
	}
	f.saved.Store(true)
	return oauth2.StaticTokenSource(t), nil
}
