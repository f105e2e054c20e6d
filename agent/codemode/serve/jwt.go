package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/modelcontextprotocol/go-sdk/auth"
)

// JWT verifies access tokens that are JWTs (RFC 9068), with the keys that their authorization server publishes (RFC
// 8414 or OpenID Connect Discovery). A token works until it expires; [Introspection] is for opaque tokens, and for
// tokens that must be revocable at once. The URLs must have the scheme https; http is allowed only for this machine.
type JWT struct {
	Issuer   string // the URL of the authorization server, as in the "iss" of its tokens
	Resource string // this server's URL for clients, such as https://mcp.example.com/mcp

	// HTTPClient fetches metadata and keys. Only its Transport is used.
	HTTPClient *http.Client
}

// Auth returns an [Auth] that accepts a token if Issuer has signed it with an asymmetric algorithm, and if it has a
// subject ("sub") or a client ("client_id"), has Resource in its audience ("aud"), and has not expired. Principals have
// the same names as with [Introspection.Auth]. The keys are fetched when the first token arrives, and again, at most
// every 30 seconds, when a token has an unknown key.
func (j JWT) Auth() (*Auth, error) {
	if !secureURL(j.Issuer) || !secureURL(j.Resource) {
		return nil, fmt.Errorf("jwt: Issuer and Resource must be URLs with https, not %q and %q", j.Issuer, j.Resource)
	}
	v := &jwtVerifier{Introspection: Introspection{Issuer: j.Issuer, Resource: j.Resource}}
	v.fetcher = fetcher{next: http.DefaultTransport, last: map[string]time.Time{}}
	if j.HTTPClient != nil && j.HTTPClient.Transport != nil {
		v.fetcher.next = j.HTTPClient.Transport
	}
	return &Auth{Verifier: v.verify, Resource: v.metadata()}, nil
}

type jwtVerifier struct {
	Introspection // the rules for claims
	fetcher       fetcher

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier // nil until the authorization server has said where its keys are
}

// verify is an [auth.TokenVerifier].
func (v *jwtVerifier) verify(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	verifier, err := v.discover(ctx)
	if err != nil {
		return nil, fmt.Errorf("jwt: the metadata of the authorization server: %w", err)
	}
	verified, err := verifier.Verify(ctx, token)
	if err != nil && strings.Contains(err.Error(), "fetching keys ") {
		v.fetcher.mu.Lock() // only now: tokens with known keys must not wait for keys that are being fetched
		failed := v.fetcher.err
		v.fetcher.mu.Unlock()
		if failed != nil {
			return nil, fmt.Errorf("jwt: the keys of the authorization server: %w", failed)
		}
	}
	var claims json.RawMessage
	if err != nil || verified.Claims(&claims) != nil {
		return nil, auth.ErrInvalidToken
	}
	t, err := parseTokenStatus(claims)
	if err != nil {
		return nil, auth.ErrInvalidToken
	}
	t.Active = true
	return v.accept(t)
}

func (v *jwtVerifier) discover(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.verifier != nil {
		return v.verifier, nil
	}
	client := &http.Client{Transport: &v.fetcher, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ctx = context.WithoutCancel(ctx) // a client that disconnects must not make other clients wait for the next attempt
	metadata, err := auth.GetAuthServerMetadata(ctx, v.Issuer, client)
	if err != nil {
		return nil, err
	}
	if metadata == nil || !secureURL(metadata.JWKSURI) {
		return nil, fmt.Errorf("%s does not publish keys under https", v.Issuer)
	}
	keys := oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), client), metadata.JWKSURI)
	v.verifier = oidc.NewVerifier(v.Issuer, keys, &oidc.Config{ClientID: v.Resource, SupportedSigningAlgs: []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512,
		oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
	}})
	return v.verifier, nil
}

// fetcher gets JSON documents. It bounds their sizes and how often they are fetched, and follows no redirects.
type fetcher struct {
	next http.RoundTripper

	mu   sync.Mutex
	last map[string]time.Time // by URL
	err  error                // of the last document that was fetched
}

// RoundTrip implements [http.RoundTripper].
func (f *fetcher) RoundTrip(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	address := req.URL.String()
	if time.Since(f.last[address]) < 30*time.Second {
		return nil, cmp.Or(f.err, errors.New("fetched less than 30 seconds ago"))
	}
	f.last[address] = time.Now()
	resp, err := f.next.RoundTrip(req)
	if f.err = err; err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, 1<<20))
	resp.Body = io.NopCloser(bytes.NewReader(text))
	if err != nil || resp.StatusCode != http.StatusOK || !json.Valid(text) {
		f.err = fmt.Errorf("%s: status %s, or not JSON, or larger than 1 MiB", req.URL, resp.Status)
	}
	if err != nil {
		return nil, f.err
	}
	return resp, nil
}
