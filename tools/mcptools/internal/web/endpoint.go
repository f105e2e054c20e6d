package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/internal/keepalive"
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
	secrets    *Secrets

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
		e.secrets.add(password)
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
		e.secrets.add(id)
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
	e.secrets.addHeaders(headers)
	preventRetry(out.Header)
	return out, nil
}

// preventRetry keeps net/http from repeating a request after its connection was lost. net/http repeats a request that
// has one of these headers, but only if the header's name has its canonical spelling.
func preventRetry(h http.Header) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := h[name]; ok {
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
}

// setMessages records where a server with the old transport expects messages, and returns the address that the SDK sees
// instead.
func (e *endpoint) setMessages(ref string) (string, error) {
	const message = "not an MCP server" + notMade
	at, err := e.url.Parse(ref)
	switch {
	case err != nil:
		return "", &Error{message: message, detail: "it sent an invalid address for messages" + checkURL}
	case !sameOrigin(at, e.url):
		return "", &Error{message: message, detail: otherOrigin("expects messages at", at)}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.messages = at
	return "/", nil
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host)
}

// otherOrigin explains why an address is not used. It leaves out the path and the query, which
// may contain secrets.
func otherOrigin(what string, at *url.URL) string {
	return fmt.Sprintf("it %s %s://%s, but its headers are sent only to its own origin; "+
		"if that is the right server, use its URL in the configuration", what, at.Scheme, at.Host)
}

// maxRedirects is how many redirects of one request are followed.
const maxRedirects = 5

// follow sends a request and follows redirects within the server's origin. An [http.Client]
// would write the address into its errors.
func (e *endpoint) follow(req *http.Request) (*http.Response, error) {
	for range maxRedirects + 1 {
		resp, err := e.send(req)
		if err != nil {
			return nil, err
		}
		to, err := resp.Location()
		if resp.StatusCode < 300 || resp.StatusCode > 399 || err != nil {
			return resp, nil
		}
		_ = resp.Body.Close()
		if req, err = e.redirected(req, resp.StatusCode, to); err != nil {
			return nil, err
		}
	}
	return nil, &Error{
		message: "the tool's server redirects in a loop" + notMade,
		detail:  "it redirects in a loop; correct the URL",
	}
}

func (e *endpoint) redirected(req *http.Request, status int, to *url.URL) (*http.Request, error) {
	keepsMethod := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	var detail string
	switch {
	case !sameOrigin(to, e.url):
		detail = otherOrigin("redirects to", to)
	case req.Method != http.MethodGet && !keepsMethod: // the POST would become a GET
		detail = fmt.Sprintf("it returned %d %s to a POST; correct the URL", status, http.StatusText(status))
	default:
		next, err := repeated(req)
		if err != nil {
			return nil, err
		}
		next.URL = to
		return next, nil
	}
	const message = "the tool's server redirects elsewhere"
	if keepsMethod {
		return nil, &Error{message: message + notMade, detail: detail}
	}
	// The redirect may lead to the call's result.
	return nil, &Error{
		unknown: true, otherTransport: sameOrigin(to, e.url), message: message + effectUnknown, detail: detail,
	}
}

// repeated returns a copy of the request with its body from the start.
func repeated(req *http.Request) (*http.Request, error) {
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	return again, nil
}

// send sends one request. Its error says whether the server may have received it.
func (e *endpoint) send(req *http.Request) (*http.Response, error) {
	e.secrets.addHeaders(http.Header{"Authorization": req.Header["Authorization"]}) // may come from OAuth
	var dialed, written atomic.Bool
	_, standard := e.next.(*http.Transport)
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn: func(string) {
			dialed.Store(true)
			if standard { // net/http tries another connection only if the first one did not carry the request
				written.Store(false)
			}
		},
		WroteHeaders: func() { written.Store(true) },
	})
	resp, err := e.next.RoundTrip(req.WithContext(ctx))
	switch {
	case err == nil, req.Context().Err() != nil:
		return resp, err
	case dialed.Load() && !written.Load():
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
