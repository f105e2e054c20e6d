package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/writ-go/writ/tools/mcptools/serve"
)

// oauth lets an authorization server decide who has access: it issues tokens to clients,
// and is asked about each of them (RFC 7662).
type oauth struct {
	issuer     string // the authorization server
	introspect string // where it says what a token is worth
	resource   string // the URL of this server, as clients have it
	client     string // what this server is called there
	secret     string
}

// secretVariable holds the secret of this server. There is no flag: those can be
// read by others on the machine.
const secretVariable = "WRIT_OAUTH_SECRET"

func (o oauth) auth() (*serve.Auth, error) {
	var errs []error
	for _, part := range []struct{ flag, address string }{{"oauth", o.issuer}, {"oauth-introspect", o.introspect},
		{"oauth-resource", o.resource}} {
		if u, err := url.Parse(part.address); err != nil || u.Host == "" || u.Scheme != "https" &&
			u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" {
			errs = append(errs, fmt.Errorf("-%s %q: give a URL with https", part.flag, part.address))
		}
	}
	if o.client == "" || o.secret == "" {
		errs = append(errs, fmt.Errorf("-oauth: -oauth-client and the variable %s say who asks about tokens", secretVariable))
	}
	return &serve.Auth{
		Verifier: o.verify,
		Resource: &oauthex.ProtectedResourceMetadata{
			Resource: o.resource, AuthorizationServers: []string{o.issuer}, BearerMethodsSupported: []string{"header"},
		},
	}, errors.Join(errs...)
}

// worth is the information that an authorization server has about a token.
type worth struct {
	Active   bool     `json:"active"`
	Subject  string   `json:"sub"`
	Scope    string   `json:"scope"`
	Expires  int64    `json:"exp"`
	Audience audience `json:"aud"`
}

// audience is a text or a list of texts.
type audience []string

func (a *audience) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte(`"`)) {
		*a = audience{""}
		return json.Unmarshal(text, &(*a)[0])
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// verify asks about a token. One that was issued for another server is worth
// nothing here.
func (o oauth) verify(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	w, err := o.ask(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("asking the authorization server about a token: %w", err)
	}
	expires := time.Unix(w.Expires, 0)
	if w.Expires == 0 {
		expires = time.Now().Add(time.Minute)
	}
	if !w.Active || w.Subject == "" || !slices.Contains(w.Audience, o.resource) || expires.Before(time.Now()) {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: o.issuer + " " + w.Subject, Scopes: strings.Fields(w.Scope), Expiration: expires}, nil
}

func (o oauth) ask(ctx context.Context, token string) (w worth, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body := url.Values{"token": {token}, "token_type_hint": {"access_token"}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.introspect, strings.NewReader(body))
	if err != nil {
		return w, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth(url.QueryEscape(o.client), url.QueryEscape(o.secret))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return w, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return w, fmt.Errorf("it answered %s", answer.Status)
	}
	return w, json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&w)
}

// authentication decides who has access. If it is nil, every program on this machine has access.
func (s *settings) authentication() (*serve.Auth, error) {
	switch {
	case s.tokens != "" && s.oauth.issuer != "":
		return nil, errors.New("-tokens and -oauth exclude each other")
	case s.tokens != "":
		return serve.TokenFile(s.tokens)
	case s.oauth.issuer != "":
		return s.oauth.auth()
	}
	return nil, nil
}
