package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const wellKnown = "/.well-known/oauth-protected-resource"

// Auth authenticates clients by bearer tokens. [TokenFile] returns an Auth for a file that lists tokens.
// [JWT.Auth] and [Introspection.Auth] return an Auth for OAuth tokens. For other kinds of tokens, set the fields.
type Auth struct {
	// Verifier returns information about a token, or an error that wraps
	// [auth.ErrInvalidToken]. It is called for every request, so a revoked token stops
	// working at once. For an OAuth token, it must check the signature, check that the token
	// was issued for this server, and return its expiration. Handlers see Extra, so it must
	// not contain the token.
	Verifier auth.TokenVerifier

	// Principal returns a token's owner. If it is nil, the owner has the name UserID and may use all tools. A token is
	// rejected if its principal's name is empty or not valid UTF-8.
	Principal func(*auth.TokenInfo) (Principal, error)

	// Scopes are the scopes that a token must have.
	Scopes []string

	// Resource tells clients where to get a token. It is published below /.well-known/, and
	// the response to a client without a token contains its URL. If it is nil, clients get
	// their tokens in another way, for example from an administrator.
	Resource *oauthex.ProtectedResourceMetadata

	forever bool               // whether tokens without an expiration are valid
	refresh func(*slog.Logger) // called before a token is verified; may be nil
	current func() tokens      // the tokens from a token file; may be nil
}

// Patterns returns the current patterns of tools in a token file, by principal. Use them to warn about
// patterns that match no tool. Principals that may use all tools are not included. Patterns returns nil
// if the Auth is nil or does not come from [TokenFile] or [Tokens].
func (a *Auth) Patterns() map[string][]string {
	if a == nil || a.current == nil {
		return nil
	}
	patterns := map[string][]string{}
	for _, t := range a.current() {
		if t.principal.Tools != nil {
			patterns[t.principal.Name] = slices.Clone(t.principal.Tools)
		}
	}
	return patterns
}

func (a *Auth) check() error {
	switch {
	case a == nil:
		return nil
	case a.Verifier == nil:
		return errors.New("auth: Verifier is nil; to serve without authentication, set Auth to nil")
	case a.Resource == nil:
		return nil
	}
	u, err := url.Parse(a.Resource.Resource)
	path, _ := a.metadata()
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Fragment != "" ||
		!isPlainPath(path) {
		return fmt.Errorf("auth: the resource must be the URL of this server as clients see it, not %q",
			a.Resource.Resource)
	}
	if len(a.Resource.AuthorizationServers) == 0 {
		return errors.New("auth: the resource has no authorization server; add one")
	}
	return nil
}

// metadata returns the path and the URL of the resource metadata (RFC 9728, 3.1).
func (a *Auth) metadata() (path, address string) {
	if a == nil || a.Resource == nil {
		return "", ""
	}
	u, err := url.Parse(a.Resource.Resource)
	if err != nil {
		return "", ""
	}
	path = wellKnown + strings.TrimSuffix(u.Path, "/")
	return path, u.Scheme + "://" + u.Host + path
}

// require calls next for requests with a valid token. It removes the token, and adds the principal to the
// context.
func (a *Auth) require(log *slog.Logger, next http.Handler) http.Handler {
	if a == nil {
		return requireHost(next)
	}
	_, address := a.metadata()
	known := auth.RequireBearerToken(a.verifier(log), &auth.RequireBearerTokenOptions{
		ResourceMetadataURL: address, Scopes: a.Scopes, AllowMissingExpiration: a.forever,
	})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := auth.TokenInfoFromContext(r.Context()).Extra[principalExtra].(Principal)
		if !ok {
			http.Error(w, "the token has no principal", http.StatusInternalServerError)
			return
		}
		next.ServeHTTP(w, withoutSecrets(r.WithContext(WithPrincipal(r.Context(), p))))
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values("Authorization")) > 1 {
			http.Error(w, "more than one Authorization header; send one", http.StatusBadRequest)
			return
		}
		if a.refresh != nil {
			a.refresh(log)
		}
		known.ServeHTTP(&challenger{ResponseWriter: w}, r)
	})
}

// requireHost calls next for requests whose principal was set by the host program, and for requests from
// this machine. A principal without a valid name means that the host could not authenticate the client.
func requireHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := r.Context().Value(principalKey{}).(Principal)
		if !ok && fromLoopback(r) {
			p = local
		}
		if !p.named() {
			http.Error(w, "authentication is required", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, withoutSecrets(r.WithContext(WithPrincipal(r.Context(), p))))
	})
}

func fromLoopback(r *http.Request) bool {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && addr.Addr().Unmap().IsLoopback()
}

// principalExtra is the principal's key in a verified token's Extra.
const principalExtra = "github.com/writ-go/writ/agent/codemode/serve.Principal"

// verifier returns a function that calls Verifier. The function hides the reason why a token is invalid: the reason
// would help an attacker who guesses tokens, and could quote the token. It logs the reason if tokens cannot be checked.
func (a *Auth) verifier(log *slog.Logger) auth.TokenVerifier {
	return func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
		info, err := a.Verifier(ctx, token, r)
		switch {
		case errors.Is(err, auth.ErrInvalidToken):
			return nil, auth.ErrInvalidToken
		case errors.Is(err, auth.ErrOAuth):
			return nil, auth.ErrOAuth
		case err == nil && info == nil:
			err = errors.New("Auth.Verifier returned neither an error nor information about the token")
		}
		if err != nil {
			log.Error("cannot check tokens", "error", withoutToken(err, token))
			return nil, errors.New("cannot check tokens at the moment; try again later")
		}
		return a.identify(info)
	}
}

func withoutToken(err error, token string) string {
	const secret = "[token]"
	return strings.NewReplacer(token, secret, url.QueryEscape(token), secret, url.PathEscape(token), secret).
		Replace(err.Error())
}

// identify adds the principal to the information about a token.
func (a *Auth) identify(info *auth.TokenInfo) (*auth.TokenInfo, error) {
	p, err := a.principal(info)
	if err != nil || !p.named() {
		return nil, auth.ErrInvalidToken
	}
	known := *info
	known.UserID = p.Name
	known.Extra = make(map[string]any, len(info.Extra)+1)
	maps.Copy(known.Extra, info.Extra)
	known.Extra[principalExtra] = p // replaces a claim of that name
	return &known, nil
}

func (a *Auth) principal(info *auth.TokenInfo) (Principal, error) {
	if a.Principal != nil {
		return a.Principal(info)
	}
	return Principal{Name: info.UserID}, nil
}

// challenger adds a WWW-Authenticate header (RFC 6750, 3) to every response with status 401, unless the SDK
// has added a more detailed one. It also makes the server close the connection.
type challenger struct{ http.ResponseWriter }

// Unwrap is for [http.ResponseController].
func (c *challenger) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader adds the headers if the status is 401.
func (c *challenger) WriteHeader(code int) {
	if code == http.StatusUnauthorized {
		c.Header().Set("Connection", "close")
		if c.Header().Get("WWW-Authenticate") == "" {
			c.Header().Set("WWW-Authenticate", "Bearer")
		}
	}
	c.ResponseWriter.WriteHeader(code)
}

// secretHeaders identify the client. They are removed, because handlers might leak them.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie"}

func withoutSecrets(r *http.Request) *http.Request {
	if slices.ContainsFunc(secretHeaders, func(h string) bool { return r.Header[h] != nil }) {
		r.Header = r.Header.Clone()
		for _, h := range secretHeaders {
			r.Header.Del(h)
		}
	}
	return r
}
