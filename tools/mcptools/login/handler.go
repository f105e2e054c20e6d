package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/writ-go/writ/tools/mcptools"
	"golang.org/x/oauth2"
)

// Handler returns the handler for [mcptools.Options].OAuth. It uses the tokens of the last login and refreshes them. It
// does not start a login: if one is needed, requests fail with an error that says so. For a server whose entry has an
// Authorization header, it returns nil.
func (l *Logins) Handler(s mcptools.ServerConfig) auth.OAuthHandler {
	if len(withoutAuthorization(s.Headers)) < len(s.Headers) {
		return nil
	}
	return &handler{logins: l, server: s, key: keyOf(s), client: l.newClient()}
}

type handler struct {
	logins *Logins
	server mcptools.ServerConfig
	key    key
	client *client

	mu     sync.Mutex
	loaded bool
	last   *record // nil if there is no login
	spent  string  // a refresh token that the authorization server does not accept
}

// TokenSource implements [auth.OAuthHandler].
func (h *handler) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.loaded && (h.last == nil || h.last.usable("")) {
		return h.last.source(), nil
	}
	err := h.renew(ctx, "")
	return h.last.source(), err
}

// Authorize implements [auth.OAuthHandler].
func (h *handler) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	challenge := bearer(resp.Header)
	if resp.StatusCode == http.StatusForbidden {
		if challenge["error"] != "insufficient_scope" {
			return nil // the login is not the reason
		}
		return h.needed(fmt.Sprintf(`it requires the scopes %.200q; add them to "scopes" in "oauth" of its entry`,
			challenge["scope"]))
	}
	refused := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.renew(ctx, refused)
	switch {
	case err != nil && !isInvalidGrant(err):
		return err
	case h.last != nil && h.last.usable(refused):
		return nil
	case h.last != nil:
		return h.needed("the login has expired or was revoked")
	case challenge == nil:
		return h.needed(`it does not say how to authorize: set its credentials in "headers" of its entry, or, if it ` +
			`supports OAuth, log in`)
	}
	return h.needed("it requires a login")
}

func isInvalidGrant(err error) bool {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && refused.ErrorCode == "invalid_grant"
}

func (h *handler) needed(reason string) error {
	if h.logins.o.Command == "" {
		return fmt.Errorf("%s; log in to it", reason)
	}
	name := h.server.Name
	if strings.ContainsFunc(name, func(r rune) bool { return strings.ContainsRune(" \t\"'$&|;<>()*?`\\", r) }) {
		name = fmt.Sprintf("%q", name)
	}
	return fmt.Errorf("%s; run %s %s", reason, h.logins.o.Command, name)
}

// bearer returns the parameters of the Bearer challenge in a response, or nil.
func bearer(header http.Header) map[string]string {
	challenges, _ := oauthex.ParseWWWAuthenticate(header.Values("WWW-Authenticate"))
	for _, c := range challenges {
		if c.Scheme == "bearer" {
			if c.Params == nil {
				return map[string]string{}
			}
			return c.Params
		}
	}
	return nil
}

// renew sets h.last to the login with a token other than refused that has not expired. If necessary, it refreshes the
// token, unless another process has already done so: most authorization servers accept a refresh token only once.
func (h *handler) renew(ctx context.Context, refused string) error {
	r, err := h.logins.store.load(h.key)
	if err != nil {
		return err
	}
	h.last, h.loaded = r, true
	if r == nil || r.usable(refused) || r.Token.RefreshToken == h.spent {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	unlock, err := h.logins.store.lock(ctx, h.key)
	if err != nil {
		return err
	}
	defer unlock()
	if r, err = h.logins.store.load(h.key); err != nil || r == nil || r.usable(refused) {
		h.last = r
		return err
	}
	t, err := h.client.refresh(ctx, r)
	if isInvalidGrant(err) {
		h.spent = r.Token.RefreshToken
	}
	if err != nil {
		return fmt.Errorf("refreshing the token: %w", r.hide(brief(err)))
	}
	next := *r
	next.Token = *t
	h.last = &next // even if saving fails: the old token may have become invalid
	if err := h.logins.store.save(h.key, &next); err != nil {
		return fmt.Errorf("keeping the refreshed token: %w", err)
	}
	return nil
}
