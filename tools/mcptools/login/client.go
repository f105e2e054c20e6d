package login

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/display"
	"golang.org/x/oauth2"
)

// client sends the requests to authorization servers. It sends nothing in plain text to other machines, follows
// redirects only of GET requests and within an origin, and bounds responses.
type client struct {
	next http.RoundTripper
	jar  http.CookieJar

	mu         sync.Mutex
	revocation map[string]string // revocation endpoint by token endpoint, from the metadata that was received
}

const maxResponse = 1 << 20

func (l *Logins) newClient() *client {
	c := &client{next: http.DefaultTransport, revocation: map[string]string{}}
	if o := l.o.HTTPClient; o != nil {
		c.jar = o.Jar
		c.next = cmp.Or(o.Transport, c.next)
	}
	return c
}

func (c *client) http() *http.Client {
	return &http.Client{Transport: c, Jar: c.jar, Timeout: 30 * time.Second, CheckRedirect: checkRedirect}
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	from := via[0].URL
	if via[0].Method != http.MethodGet || req.URL.Scheme != from.Scheme || req.URL.Host != from.Host || len(via) > 5 {
		return fmt.Errorf("it redirects to %s://%s, which is not followed", req.URL.Scheme, req.URL.Host)
	}
	return nil
}

// secure reports whether a URL has the scheme https, or is on this machine.
func secure(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "https" ||
		u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()))
}

// RoundTrip implements [http.RoundTripper].
func (c *client) RoundTrip(req *http.Request) (*http.Response, error) {
	if !secure(req.URL) {
		return nil, errors.New("the authorization server's URL must start with https://")
	}
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	_ = resp.Body.Close()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the response: %w", err)
	case len(body) > maxResponse:
		return nil, errors.New("the response is larger than 1 MiB")
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if resp.StatusCode == http.StatusOK {
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
			return nil, errors.New("it returned a web page instead of JSON")
		}
		c.note(req, body)
	}
	return resp, nil
}

// note notes the revocation endpoint in metadata: the SDK's handler does not pass it on.
func (c *client) note(req *http.Request, body []byte) {
	var metadata struct {
		Token      string `json:"token_endpoint"`
		Revocation string `json:"revocation_endpoint"`
	}
	if req.Method == http.MethodGet && json.Unmarshal(body, &metadata) == nil && metadata.Token != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.revocation[metadata.Token] = metadata.Revocation
	}
}

func (c *client) revocationOf(tokenURL string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revocation[tokenURL]
}

// refresh asks for new tokens. [oauth2.Config.TokenSource] would not send the resource.
func (c *client) refresh(ctx context.Context, r *record) (*oauth2.Token, error) {
	config := oauth2.Config{
		ClientID: r.ClientID, ClientSecret: r.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: r.TokenURL, AuthStyle: r.AuthStyle},
	}
	return config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, c.http()), "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"),
		oauth2.SetAuthURLParam("refresh_token", r.Token.RefreshToken),
		oauth2.SetAuthURLParam("resource", r.Resource))
}

// revoke revokes the tokens (RFC 7009). A server that revokes refresh tokens may not support access tokens.
func (l *Logins) revoke(ctx context.Context, r *record) error {
	c := l.newClient()
	if r.Token.RefreshToken == "" {
		return c.revokeToken(ctx, r, "access_token", r.Token.AccessToken)
	}
	err := c.revokeToken(ctx, r, "refresh_token", r.Token.RefreshToken)
	_ = c.revokeToken(ctx, r, "access_token", r.Token.AccessToken)
	return err
}

func (c *client) revokeToken(ctx context.Context, r *record, kind, token string) error {
	form := url.Values{"token": {token}, "token_type_hint": {kind}}
	if r.AuthStyle != oauth2.AuthStyleInHeader {
		form.Set("client_id", r.ClientID)
		if r.ClientSecret != "" {
			form.Set("client_secret", r.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.RevocationURL, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("the URL of its revocation endpoint is malformed")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if r.AuthStyle == oauth2.AuthStyleInHeader {
		req.SetBasicAuth(url.QueryEscape(r.ClientID), url.QueryEscape(r.ClientSecret))
	}
	resp, err := c.http().Do(req)
	if err != nil {
		return brief(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the authorization server returned %s", resp.Status)
	}
	return nil
}

// briefError is an error without the parts of responses that may contain tokens or are long.
type briefError struct {
	text string
	err  error
}

func (e *briefError) Error() string { return e.text }
func (e *briefError) Unwrap() error { return e.err }

// brief shortens an error of the SDK or of package oauth2.
func brief(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		text = fmt.Sprintf("the token endpoint returned %d %s %s", refused.Response.StatusCode, refused.ErrorCode,
			refused.ErrorDescription)
	} else if before, _, ok := strings.Cut(text, "failed to decode successful registration response"); ok {
		text = before + "the response to the registration is malformed" // the rest has the client's secret
	}
	const most = 400
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return &briefError{strings.TrimSpace(strings.ReplaceAll(display.Text(text), "\n", " ")), err}
}
