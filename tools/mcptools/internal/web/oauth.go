package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/writ-go/writ/tools/internal/origin"
	"golang.org/x/oauth2"
)

// authorizer sets an OAuth handler's tokens on requests. The SDK supports OAuth only over streamable HTTP. It would
// also call the handler concurrently, and end the session if the authorization fails.
type authorizer struct {
	handler auth.OAuthHandler
	turn    chan struct{} // holds a value while the handler is in use
}

type sender = func(*http.Request) (*http.Response, error)

// with returns a function that sends a request with the handler's token. If the server requires authorization, the
// function obtains it and sends the request again.
func (a *authorizer) with(send sender) sender {
	return func(req *http.Request) (*http.Response, error) {
		token, err := a.setToken(req)
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
		again, err := origin.Repeated(req)
		if err != nil {
			return nil, err
		}
		if _, err := a.setToken(again); err != nil {
			return nil, err
		}
		return send(again)
	}
}

func (a *authorizer) lock(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *authorizer) unlock() { <-a.turn }

// setToken sets the token on the request and returns it. It returns "" if there is no token yet, or
// if the token cannot be renewed.
func (a *authorizer) setToken(req *http.Request) (string, error) {
	if err := a.lock(req.Context()); err != nil {
		return "", err
	}
	defer a.unlock()
	return a.setTokenLocked(req)
}

func (a *authorizer) setTokenLocked(req *http.Request) (string, error) {
	source, err := a.handler.TokenSource(context.WithoutCancel(req.Context())) // the source may outlive the request
	var token *oauth2.Token
	if err == nil && source != nil {
		token, err = source.Token()
	}
	refused, isRefused := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case isRefused && refused.ErrorCode == "invalid_grant": // a new authorization is needed
		return "", nil
	case err != nil:
		return "", &Error{
			message: "cannot authorize the request" + notMade,
			detail:  "Options.OAuth returned no token", err: err,
		}
	case token == nil:
		return "", nil
	}
	req.Header.Set("Authorization", "Bearer "+token.AccessToken)
	return token.AccessToken, nil
}

// authorize asks the handler for a new token in place of the rejected token, unless another request has already
// obtained a new token.
func (a *authorizer) authorize(req *http.Request, resp *http.Response, refused string) error {
	if err := a.lock(req.Context()); err != nil {
		_ = resp.Body.Close()
		return err
	}
	defer a.unlock()
	if now, err := a.setTokenLocked(req.Clone(req.Context())); err == nil && now != refused {
		return resp.Body.Close()
	}
	const maxBody = 64 << 10 // handlers read the whole body
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxBody)
	if err := a.handler.Authorize(req.Context(), req, resp); err != nil {
		return &Error{
			message: "the tool's server requires authorization, which failed" + notMade,
			detail: fmt.Sprintf("it returned %d %s, and authorization failed",
				resp.StatusCode, http.StatusText(resp.StatusCode)),
			err: err,
		}
	}
	return nil
}
