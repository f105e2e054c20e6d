package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const wellKnown = "/.well-known/oauth-protected-resource"

// Auth says who may ask: whoever sends a bearer token that Verifier knows.
// [TokenFile] makes one from a file of tokens; for OAuth, fill in the fields.
type Auth struct {
	// Verifier returns what a token says, or an error that wraps
	// [auth.ErrInvalidToken]. It is asked at every request, so that a token that is
	// taken back ends there. Of an OAuth token it must check the signature, and that
	// it was issued for this server and for no other; and say when it ends. Handlers
	// see what is in Extra: never put the token there.
	Verifier auth.TokenVerifier

	// Principal says who the owner of a token is. Nil takes the UserID for the name
	// and allows all tools. A token whose principal has no name is refused.
	Principal func(*auth.TokenInfo) (Principal, error)

	// Scopes are those that a token must have, all of them.
	Scopes []string

	// Resource tells clients where to get a token. It is published where they look
	// for it, below /.well-known/, and those without a token are told so. Nil is
	// nothing: clients are given their token by their owners.
	Resource *oauthex.ProtectedResourceMetadata

	forever bool               // whether a token may have no end
	refresh func(*slog.Logger) // before tokens are asked for; nil is nothing to do
}

func (a *Auth) check() error {
	switch {
	case a == nil:
		return nil
	case a.Verifier == nil:
		return errors.New("auth: there is no Verifier; without authentication, Auth is nil")
	case a.Resource == nil:
		return nil
	}
	u, err := url.Parse(a.Resource.Resource)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Fragment != "" {
		return fmt.Errorf("auth: the resource must be the URL of this server, as clients have it, not %q", a.Resource.Resource)
	}
	if len(a.Resource.AuthorizationServers) == 0 {
		return errors.New("auth: the resource names no authorization server")
	}
	return nil
}

// metadata is where the resource is described (RFC 9728, 3.1): as path here, and
// as URL for clients.
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

// require lets pass who has a token that is known, as the principal of its
// context. The token goes no further: no handler sees it.
func (a *Auth) require(log *slog.Logger, next http.Handler) http.Handler {
	if a == nil {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, withoutSecrets(r.WithContext(WithPrincipal(r.Context(), local))))
		})
	}
	_, address := a.metadata()
	known := auth.RequireBearerToken(a.verify, &auth.RequireBearerTokenOptions{
		ResourceMetadataURL: address, Scopes: a.Scopes, AllowMissingExpiration: a.forever,
	})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := auth.TokenInfoFromContext(r.Context()).Extra[principalExtra].(Principal)
		if !ok {
			http.Error(w, "the owner of the token is not known", http.StatusInternalServerError)
			return
		}
		next.ServeHTTP(w, withoutSecrets(r.WithContext(WithPrincipal(r.Context(), p))))
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Values("Authorization")) > 1 {
			http.Error(w, "there is more than one Authorization header", http.StatusBadRequest)
			return
		}
		if a.refresh != nil {
			a.refresh(log)
		}
		known.ServeHTTP(&challenging{ResponseWriter: w}, r)
	})
}

// principalExtra is where a verified token carries its principal.
const principalExtra = "github.com/writ-go/writ/tools/mcptools/serve.Principal"

// verify asks the Verifier. Why a token is no good is not told: who guesses learns
// nothing, and an error of a verifier may quote the token.
func (a *Auth) verify(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
	info, err := a.Verifier(ctx, token, r)
	switch {
	case errors.Is(err, auth.ErrInvalidToken):
		return nil, auth.ErrInvalidToken
	case errors.Is(err, auth.ErrOAuth):
		return nil, auth.ErrOAuth
	case err != nil, info == nil:
		return nil, errors.New("tokens cannot be checked at the moment")
	}
	p, err := a.principal(info)
	if err != nil || p.Name == "" {
		return nil, auth.ErrInvalidToken
	}
	known := *info
	known.UserID = p.Name
	known.Extra = make(map[string]any, len(info.Extra)+1)
	maps.Copy(known.Extra, info.Extra)
	known.Extra[principalExtra] = p // whatever claim has that name
	return &known, nil
}

func (a *Auth) principal(info *auth.TokenInfo) (Principal, error) {
	if a.Principal != nil {
		return a.Principal(info)
	}
	return Principal{Name: info.UserID}, nil
}

// challenging says how to authenticate with every 401 (RFC 6750, 3), as the SDK
// does where it has more to say. Who is not known keeps no connection.
type challenging struct{ http.ResponseWriter }

// Unwrap is for [http.ResponseController].
func (c *challenging) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// WriteHeader adds what belongs to a 401.
func (c *challenging) WriteHeader(code int) {
	if code == http.StatusUnauthorized {
		c.Header().Set("Connection", "close")
		if c.Header().Get("WWW-Authenticate") == "" {
			c.Header().Set("WWW-Authenticate", "Bearer")
		}
	}
	c.ResponseWriter.WriteHeader(code)
}

// secret are headers that say who somebody is. What handlers see of a request, they
// may pass on.
var secret = []string{"Authorization", "Proxy-Authorization", "Cookie"}

func withoutSecrets(r *http.Request) *http.Request {
	if slices.ContainsFunc(secret, func(h string) bool { return r.Header[h] != nil }) {
		r.Header = r.Header.Clone()
		for _, h := range secret {
			r.Header.Del(h)
		}
	}
	return r
}
