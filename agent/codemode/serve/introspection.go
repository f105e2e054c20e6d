package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// Introspection verifies tokens by asking the OAuth authorization server that issued them (RFC 7662).
// It asks again for every request, so that a revoked token stops working at once. All fields except
// HTTPClient are required. The URLs must have the scheme https; http is allowed only for this machine.
type Introspection struct {
	Issuer   string // the URL of the authorization server, as in the "iss" of its tokens
	Endpoint string // the URL of its introspection endpoint
	Resource string // this server's URL for clients, such as https://mcp.example.com/mcp

	ClientID     string // identifies this server to the authorization server
	ClientSecret string

	// HTTPClient sends the requests to Endpoint. Nil means a client that follows no redirects.
	HTTPClient *http.Client
}

// Auth returns an [Auth] that accepts a token if it is active, is valid now, was issued by Issuer, has a subject
// ("sub") or a client ("client_id"), and has Resource in its audience ("aud"). Its principal's name consists of Issuer,
// a space and the subject. Without a subject, the name consists of "client ", Issuer, a space and the client's ID, so
// that all users of that client are one principal. The error lists all missing and invalid fields.
func (i Introspection) Auth() (*Auth, error) {
	if err := i.check(); err != nil {
		return nil, err
	}
	if i.HTTPClient == nil {
		i.HTTPClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect could reveal the token
		}}
	}
	return &Auth{Verifier: i.verify, Resource: i.metadata()}, nil
}

func (i Introspection) metadata() *oauthex.ProtectedResourceMetadata {
	return &oauthex.ProtectedResourceMetadata{
		Resource: i.Resource, AuthorizationServers: []string{i.Issuer}, BearerMethodsSupported: []string{"header"},
	}
}

func (i Introspection) check() error {
	var errs []error
	for _, f := range []struct{ name, address string }{
		{"Issuer", i.Issuer}, {"Endpoint", i.Endpoint}, {"Resource", i.Resource},
	} {
		if !secureURL(f.address) {
			errs = append(errs, fmt.Errorf("introspection: %s must be a URL with https, not %q", f.name, f.address))
		}
	}
	if i.ClientID == "" {
		errs = append(errs, errors.New("introspection: ClientID is not set"))
	}
	if i.ClientSecret == "" {
		errs = append(errs, errors.New("introspection: ClientSecret is not set"))
	}
	return errors.Join(errs...)
}

// secureURL reports whether the address is an https URL, or an http URL on this machine.
func secureURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Fragment != "" {
		return false
	}
	return u.Scheme == "https" ||
		u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

// tokenStatus is an authorization server's answer about a token.
type tokenStatus struct {
	Active    bool     `json:"active"`
	Issuer    *string  `json:"iss"`
	Subject   string   `json:"sub"`
	Client    string   `json:"client_id"`
	Scope     string   `json:"scope"`
	Expires   *instant `json:"exp"`
	NotBefore *instant `json:"nbf"`
	Audience  audience `json:"aud"`
}

// parseTokenStatus reads an authorization server's answer. It rejects answers that other programs might interpret
// differently: [json.Unmarshal] accepts repeated names, and names that differ from the known names in case.
func parseTokenStatus(text []byte) (t tokenStatus, err error) {
	doc, err := jsonvalue.Decode(text, 100, false)
	if err != nil {
		return t, fmt.Errorf("the answer %w", err)
	}
	if len(doc.Repeated) > 0 {
		return t, fmt.Errorf("the answer has the name %q twice", doc.Repeated[0])
	}
	object, _ := doc.Value.(map[string]any)
	for name := range object {
		for _, known := range []string{"active", "iss", "sub", "client_id", "scope", "exp", "nbf", "aud"} {
			if name != known && strings.EqualFold(name, known) {
				return t, fmt.Errorf("the answer has the name %q instead of %q", name, known)
			}
		}
	}
	return t, json.Unmarshal(text, &t)
}

// instant is a time in JSON: the seconds since 1970, which may have a fraction.
type instant struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler].
func (t *instant) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	const last = 1 << 40 // a much later time would overflow
	whole, fraction := math.Modf(min(max(seconds, 0), last))
	t.Time = time.Unix(int64(whole), int64(fraction*1e9))
	return nil
}

// audience is a JSON string or a JSON list of strings.
type audience []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *audience) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte(`"`)) {
		*a = audience{""}
		return json.Unmarshal(text, &(*a)[0])
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// verify is an [auth.TokenVerifier].
func (i Introspection) verify(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	t, err := i.status(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("introspection: asking the authorization server: %w", err)
	}
	return i.accept(t)
}

// accept returns the information about a token, or an error if the token is not valid for this server.
func (i Introspection) accept(t tokenStatus) (*auth.TokenInfo, error) {
	now := time.Now()
	expires := now.Add(time.Minute) // the next request asks again anyway
	if t.Expires != nil {
		expires = t.Expires.Time
	}
	name := i.identify(t)
	if !t.Active || name == "" || !slices.Contains(t.Audience, i.Resource) ||
		!now.Before(expires) || t.NotBefore != nil && now.Before(t.NotBefore.Time) {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: name, Scopes: strings.Fields(t.Scope), Expiration: expires}, nil
}

// identify returns the name of the token's principal. It returns "" if another issuer issued the token, or if the token
// has neither a subject nor a client. It also returns "" for a name with invalid UTF-8: JSON decoding replaces invalid
// bytes, so that different names would become equal.
func (i Introspection) identify(t tokenStatus) string {
	id, prefix := t.Subject, ""
	if id == "" {
		id, prefix = t.Client, "client "
	}
	other := t.Issuer != nil && *t.Issuer != i.Issuer
	if other || strings.TrimSpace(id) == "" || strings.ContainsRune(id, utf8.RuneError) {
		return ""
	}
	return prefix + i.Issuer + " " + id
}

func (i Introspection) status(ctx context.Context, token string) (t tokenStatus, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body := url.Values{"token": {token}, "token_type_hint": {"access_token"}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, i.Endpoint, strings.NewReader(body))
	if err != nil {
		return t, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth(url.QueryEscape(i.ClientID), url.QueryEscape(i.ClientSecret))
	response, err := i.HTTPClient.Do(r)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return t, wrapped.Err // without the URL, which may contain a secret
	}
	if err != nil {
		return t, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return t, fmt.Errorf("status %s", response.Status)
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, 64<<10))
	if err != nil {
		return t, err
	}
	return parseTokenStatus(text)
}
