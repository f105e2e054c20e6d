package login

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/tools/mcptools"
	"golang.org/x/oauth2"
)

// Handler returns the handler for [mcptools.Options].OAuth. It uses the tokens of the last login and refreshes them. If
// a login is needed, requests fail with an error that says so. For a server whose entry has an Authorization header,
// Handler returns nil.
func (l *Logins) Handler(s mcptools.ServerConfig) auth.OAuthHandler {
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil
		}
	}
	return &handler{Logins: l, server: s}
}

type handler struct {
	*Logins
	server mcptools.ServerConfig

	mu     sync.Mutex
	loaded bool
	last   *record // nil if there is no login
}

// TokenSource implements [auth.OAuthHandler].
func (h *handler) TokenSource(ctx context.Context) (source oauth2.TokenSource, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.loaded || h.last != nil && !h.last.usable("") {
		err = h.renew(ctx, "")
	}
	if h.last != nil {
		source = oauth2.StaticTokenSource(&h.last.Token)
	}
	return source, err
}

// Authorize implements [auth.OAuthHandler].
func (h *handler) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		return nil // the login is not the reason
	}
	refused := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.renew(ctx, refused); err != nil {
		return err
	}
	if h.last != nil && h.last.Token.AccessToken != refused {
		return nil
	}
	return fmt.Errorf(`it requires a login, or credentials in "headers" of its entry; to log in with OAuth, run %s %s`,
		h.o.Command, h.server.Name)
}

// renew sets h.last to the login with a token that is valid and not refused. If necessary, it refreshes the token,
// unless another process has already done so: many authorization servers accept a refresh token only once.
func (h *handler) renew(ctx context.Context, refused string) error {
	key := keyOf(h.server)
	done := func() (ok bool, err error) {
		h.last, err = h.load(key)
		h.loaded = err == nil
		return err != nil || h.last == nil || h.last.usable(refused) || h.last.Token.RefreshToken == "", err
	}
	if ok, err := done(); ok {
		return err
	}
	unlock, err := h.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	if ok, err := done(); ok {
		return err
	}
	next := *h.last
	config := &oauth2.Config{
		ClientID: next.ClientID, ClientSecret: next.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: next.TokenURL, AuthStyle: next.AuthStyle},
	}
	ctx = context.WithoutCancel(ctx) // the new tokens must not be lost
	t, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, h.http), "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), // TokenSource would not send the resource
		oauth2.SetAuthURLParam("refresh_token", next.Token.RefreshToken),
		oauth2.SetAuthURLParam("resource", next.Resource))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
		h.last = nil // the login has expired or was revoked
		return h.save(key, nil)
	}
	if err != nil {
		return fmt.Errorf("refreshing the token: %w",
			brief(err, next.Token.RefreshToken, next.Token.AccessToken, next.ClientSecret))
	}
	next.Token = *t
	h.last = &next
	return h.save(key, &next)
}

// revoke revokes the refresh token, and with it the access tokens, or an access token without a refresh token.
func (l *Logins) revoke(ctx context.Context, r *record) error {
	form := url.Values{"token": {cmp.Or(r.Token.RefreshToken, r.Token.AccessToken)}, "client_id": {r.ClientID}}
	inHeader := r.AuthStyle == oauth2.AuthStyleInHeader
	if !inHeader && r.ClientSecret != "" {
		form.Set("client_secret", r.ClientSecret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.RevocationURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if inHeader {
		req.SetBasicAuth(url.QueryEscape(r.ClientID), url.QueryEscape(r.ClientSecret))
	}
	resp, err := l.http.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the authorization server returned %s", resp.Status)
	}
	return err
}

// newHTTP returns a client that passes responses to note. It follows no redirects, which could reveal tokens.
func newHTTP(note func(method string, body []byte)) *http.Client {
	refuse := func(req *http.Request, _ []*http.Request) error {
		return fmt.Errorf("it redirects to %s://%s, which is not followed", req.URL.Scheme, req.URL.Host)
	}
	return &http.Client{Transport: guard(note), Timeout: 30 * time.Second, CheckRedirect: refuse}
}

// guard sends nothing in plain text to other machines, and bounds responses. It is called with them and with the
// methods of their requests.
type guard func(method string, body []byte)

// RoundTrip implements [http.RoundTripper].
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	host := req.URL.Hostname()
	if req.URL.Scheme != "https" && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return nil, errors.New("its URL, or that of its authorization server, does not start with https://")
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	const most = 1 << 20
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && len(body) > most {
		err = errors.New("the response is larger than 1 MiB")
	}
	if err != nil {
		return nil, err
	}
	g(req.Method, body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// brief returns a short error without responses and secrets.
func brief(err error, secrets ...string) error {
	text, _, _ := strings.Cut(err.Error(), " successful registration response") // with a client's secret
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		text = fmt.Sprintf("the token endpoint returned %d %s %s",
			refused.Response.StatusCode, refused.ErrorCode, refused.ErrorDescription)
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[hidden]")
		}
	}
	return fmt.Errorf("%.400s", strings.Join(strings.Fields(display.Text(text)), " "))
}
