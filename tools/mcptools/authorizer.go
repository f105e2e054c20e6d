package mcptools

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"
)

// authorizer sets the tokens of an OAuth handler on requests. The SDK's
// streamable transport would do that itself, but not for its predecessor, not
// for one request at a time, as its handlers need, and at the price of the
// session if authorizing is in vain.
type authorizer struct {
	handler auth.OAuthHandler
	turn    chan struct{} // holds one token, which is whoever's turn it is to use the handler
}

// newAuthorizer returns nil for no handler.
func newAuthorizer(handler auth.OAuthHandler) *authorizer {
	if handler == nil {
		return nil
	}
	return &authorizer{handler: handler, turn: make(chan struct{}, 1)}
}

type sender = func(*http.Request) (*http.Response, error)

// with sends a request with the handler's token, and once more after
// authorizing, if the server asks for that.
func (a *authorizer) with(send sender) sender {
	return func(req *http.Request) (*http.Response, error) {
		token, err := a.set(req)
		if err != nil {
			return nil, err
		}
		resp, err := send(req)
		if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, err
		}
		if err := a.authorize(req, resp, token); err != nil {
			return nil, err
		}
		again, err := rewound(req)
		if err != nil {
			return nil, err
		}
		if _, err := a.set(again); err != nil {
			return nil, err
		}
		return send(again)
	}
}

// take waits for the turn to use the handler.
func (a *authorizer) take(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// set sets the token and returns it; none if there is none yet, or it cannot be
// renewed.
func (a *authorizer) set(req *http.Request) (string, error) {
	if err := a.take(req.Context()); err != nil {
		return "", err
	}
	defer func() { <-a.turn }()
	return a.setNow(req)
}

func (a *authorizer) setNow(req *http.Request) (string, error) {
	source, err := a.handler.TokenSource(context.WithoutCancel(req.Context())) // which may outlive the request
	var token *oauth2.Token
	if err == nil && source != nil {
		token, err = source.Token()
	}
	refused, isRefused := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case isRefused && refused.ErrorCode == "invalid_grant": // it has to be authorized anew
		return "", nil
	case err != nil:
		return "", &webError{
			message: "the request could not be authorized; nothing was done",
			detail:  "no token could be had from Options.OAuth", err: err,
		}
	case token == nil:
		return "", nil
	}
	req.Header.Set("Authorization", "Bearer "+token.AccessToken)
	return token.AccessToken, nil
}

// authorize asks the handler for another token than the one refused, unless
// somebody else did so meanwhile.
func (a *authorizer) authorize(req *http.Request, resp *http.Response, token string) error {
	if err := a.take(req.Context()); err != nil {
		_ = resp.Body.Close()
		return err
	}
	defer func() { <-a.turn }()
	if now, err := a.setNow(req.Clone(req.Context())); err == nil && now != token {
		return resp.Body.Close()
	}
	if err := a.handler.Authorize(req.Context(), req, resp); err != nil {
		return &webError{
			message: "the tool's server wants authorization, which failed; nothing was done",
			detail:  fmt.Sprintf("it answers %d %s, and authorization failed", resp.StatusCode, http.StatusText(resp.StatusCode)),
			err:     err,
		}
	}
	return nil
}
