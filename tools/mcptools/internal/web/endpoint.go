package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/writ-go/writ/internal/keepalive"
	"github.com/writ-go/writ/tools/internal/origin"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
	"go.opentelemetry.io/otel/propagation"
)

// endpoint sends requests with the server's headers, only to the server's origin. It hides the URL and the session ID
// from the SDK, which writes them into errors: either may work like a password.
type endpoint struct {
	server     string
	url        *url.URL
	headers    http.Header
	headerFunc func(ctx context.Context, server string) (http.Header, error)
	oauth      *authorizer // may be nil
	next       http.RoundTripper
	secrets    *origin.Secrets

	mu       sync.Mutex
	messages *url.URL // where a server with the old transport expects messages
	session  string
}

func newEndpoint(c *Config) *endpoint {
	e := &endpoint{
		server:     c.Server,
		url:        c.URL,
		headers:    http.Header{},
		headerFunc: c.HeaderFunc,
		next:       keepalive.Transport(),
		secrets:    c.Secrets,
	}
	if c.OAuth != nil {
		e.oauth = &authorizer{handler: c.OAuth, turn: make(chan struct{}, 1)}
	}
	if c.Client != nil && c.Client.Transport != nil {
		e.next = c.Client.Transport
	}
	if user := c.URL.User; user != nil {
		password, _ := user.Password()
		e.secrets.Add(password)
		plain := http.Request{Header: e.headers}
		plain.SetBasicAuth(user.Username(), password)
		without := *c.URL
		without.User = nil
		e.url = &without
	}
	// In sorted order, so that the same one of two spellings of a name always wins.
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		e.headers.Set(name, c.Headers[name])
	}
	return e
}

// shown returns the URL that the SDK sees.
func (e *endpoint) shown() string { return e.url.Scheme + "://" + e.url.Host + "/" }

// shownSession is the session ID that the SDK sees.
const shownSession = "session"

// RoundTrip implements [http.RoundTripper].
func (e *endpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	out, err := e.prepare(req)
	if err != nil {
		return nil, err
	}
	send := e.follow
	if e.oauth != nil {
		send = e.oauth.with(send)
	}
	resp, err := send(out)
	if err != nil {
		return nil, err
	}
	if id := resp.Header.Get(sessionHeader); id != "" {
		e.mu.Lock()
		e.session = id
		e.mu.Unlock()
		e.secrets.Add(id)
		resp.Header.Set(sessionHeader, shownSession)
	}
	resp.Request = req
	return resp, nil
}

// prepare returns the request to send. It keeps the headers that the SDK has set.
func (e *endpoint) prepare(req *http.Request) (*http.Request, error) {
	out := req.Clone(req.Context())
	out.Host = ""
	e.mu.Lock()
	out.URL = e.url
	if e.messages != nil && req.Method == http.MethodPost {
		out.URL = e.messages
	}
	if out.Header.Get(sessionHeader) != "" {
		out.Header.Set(sessionHeader, e.session)
	}
	e.mu.Unlock()
	headers := e.headers.Clone()
	if e.headerFunc != nil {
		own, err := e.headerFunc(req.Context(), e.server)
		if err != nil {
			return nil, &Error{
				message: "cannot prepare the request" + notMade,
				detail:  "Options.HeaderFunc failed", err: err,
			}
		}
		for _, name := range slices.Sorted(maps.Keys(own)) {
			headers[http.CanonicalHeaderKey(name)] = own[name]
		}
	}
	for name, values := range headers {
		if _, set := out.Header[name]; !set {
			out.Header[name] = values
		}
	}
	if call := message.CallOf(req.Context()); call != nil && !call.Lists() && out.Header.Get("Traceparent") == "" {
		propagation.TraceContext{}.Inject(req.Context(), propagation.HeaderCarrier(out.Header))
	}
	e.secrets.AddHeaders(headers)
	origin.PreventRetry(out.Header)
	return out, nil
}

// setMessages records where a server with the old transport expects messages, and returns the address that the SDK sees
// instead.
func (e *endpoint) setMessages(ref string) (string, error) {
	const message = "not an MCP server" + notMade
	at, err := e.url.Parse(ref)
	switch {
	case err != nil:
		return "", &Error{message: message, detail: "it sent an invalid address for messages" + checkURL}
	case !origin.Same(at, e.url):
		return "", &Error{message: message, detail: otherOrigin("expects messages at", at)}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.messages = at
	return "/", nil
}

// otherOrigin explains why an address is not used. It leaves out the path and the query, which
// may contain secrets.
func otherOrigin(what string, at *url.URL) string {
	return fmt.Sprintf("it %s %s://%s, but its headers are sent only to its own origin; "+
		"if that is the right server, use its URL in the configuration", what, at.Scheme, at.Host)
}

// follow sends a request and follows redirects within the server's origin.
func (e *endpoint) follow(req *http.Request) (*http.Response, error) {
	resp, err := origin.Follow(req, e.url, e.send)
	redirect, ok := errors.AsType[*origin.RedirectError](err)
	if !ok {
		return resp, err
	}
	const message = "the tool's server redirects elsewhere"
	switch {
	case redirect.To == nil:
		return nil, &Error{
			message: "the tool's server redirects in a loop" + notMade,
			detail:  "it redirects in a loop; correct the URL",
		}
	case redirect.Unprocessed:
		return nil, &Error{message: message + notMade, detail: otherOrigin("redirects to", redirect.To)}
	}
	// The redirect may lead to the call's result.
	failed := &Error{
		unknown: true, otherTransport: origin.Same(redirect.To, e.url), message: message + effectUnknown,
		detail: otherOrigin("redirects to", redirect.To),
	}
	if failed.otherTransport { // the POST would become a GET
		failed.detail = fmt.Sprintf("it returned %d %s to a %s; correct the URL",
			redirect.Status, http.StatusText(redirect.Status), req.Method)
	}
	return nil, failed
}

// send sends one request. Its error says whether the server may have received it.
func (e *endpoint) send(req *http.Request) (*http.Response, error) {
	e.secrets.AddHeaders(http.Header{"Authorization": req.Header["Authorization"]}) // may come from OAuth
	resp, sent, err := origin.Send(e.next, req)
	switch {
	case err == nil, req.Context().Err() != nil:
		return resp, err
	case !sent:
		return nil, &Error{
			message: "the tool's server cannot be reached" + notMade,
			detail:  "it cannot be reached; check that it is running and that the URL is right",
			err:     err,
		}
	}
	return nil, &Error{
		unknown: true,
		message: connectionLost,
		detail:  "the connection was lost before it answered",
		err:     err,
	}
}
