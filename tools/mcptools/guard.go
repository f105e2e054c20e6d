package mcptools

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
)

// guard sends the requests of one server, with its headers, and to nowhere
// else. The SDK is given neither the URL nor the session's id, since it writes
// them into errors, and either can be as good as a password.
type guard struct {
	server     string
	endpoint   *url.URL
	headers    http.Header
	headerFunc func(ctx context.Context, server string) (http.Header, error)
	oauth      *authorizer // nil for none
	next       http.RoundTripper
	secrets    *secrets // nil to keep none

	mu       sync.Mutex
	messages *url.URL // where a legacy server wants its messages
	session  string
}

// shown is what the SDK takes for the endpoint.
func (g *guard) shown() string { return g.endpoint.Scheme + "://" + g.endpoint.Host + "/" }

const shownSession = "session"

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	out, err := g.prepare(req)
	if err != nil {
		return nil, err
	}
	send := g.follow
	if g.oauth != nil {
		send = g.oauth.with(send)
	}
	resp, err := send(out)
	if err != nil {
		return nil, err
	}
	if id := resp.Header.Get(sessionHeader); id != "" {
		g.mu.Lock()
		g.session = id
		if g.secrets != nil {
			g.secrets.add(id)
		}
		g.mu.Unlock()
		resp.Header.Set(sessionHeader, shownSession)
	}
	resp.Request = req
	return resp, nil
}

// prepare returns the request as it goes out. What the protocol has set stays.
func (g *guard) prepare(req *http.Request) (*http.Request, error) {
	out := req.Clone(req.Context())
	out.Host = ""
	g.mu.Lock()
	out.URL = g.endpoint
	if g.messages != nil && req.Method == http.MethodPost {
		out.URL = g.messages
	}
	if out.Header.Get(sessionHeader) != "" {
		out.Header.Set(sessionHeader, g.session)
	}
	g.mu.Unlock()
	headers := g.headers.Clone()
	if g.headerFunc != nil {
		own, err := g.headerFunc(req.Context(), g.server)
		if err != nil {
			return nil, &webError{
				message: "the request could not be prepared; nothing was done",
				detail:  "Options.HeaderFunc failed", err: err,
			}
		}
		for _, name := range slices.Sorted(maps.Keys(own)) { // as in [server.guard]
			headers[http.CanonicalHeaderKey(name)] = own[name]
		}
	}
	for name, values := range headers {
		if _, set := out.Header[name]; !set {
			out.Header[name] = values
		}
	}
	if g.secrets != nil {
		g.secrets.note(headers)
	}
	sentOnce(out.Header)
	return out, nil
}

// sentOnce keeps net/http from sending a request again when its connection is
// lost, which it takes these headers to allow. It knows them in canonical
// spelling only; to a server, which has its own reasons to want them, all
// spellings are the same.
func sentOnce(h http.Header) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := h[name]; ok {
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
}

// messagesAt notes where a legacy server wants its messages.
func (g *guard) messagesAt(ref string) (string, error) {
	at, err := g.endpoint.Parse(ref)
	switch {
	case err != nil:
		return "", &webError{message: "the tool's server is none; nothing was done", detail: "the address it gives for messages is none"}
	case !sameOrigin(at, g.endpoint):
		return "", &webError{message: "the tool's server is none; nothing was done", detail: elsewhere("wants its messages at", at)}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.messages = at
	return "/", nil
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host)
}

// elsewhere says that headers would reach somebody else. Paths and queries may
// hold secrets.
func elsewhere(what string, at *url.URL) string {
	return fmt.Sprintf("it %s %s://%s, where its headers are not sent; if that is the right place, put it into the configuration", what, at.Scheme, at.Host)
}

// maxRedirects is how many redirects of one request are followed.
const maxRedirects = 5

// follow sends a request and follows redirects within the server. They are
// followed here, for an http.Client would write the address into its errors.
func (g *guard) follow(req *http.Request) (*http.Response, error) {
	for range maxRedirects + 1 {
		resp, err := g.send(req)
		if err != nil {
			return nil, err
		}
		to, err := resp.Location()
		if resp.StatusCode < 300 || resp.StatusCode > 399 || err != nil {
			return resp, nil
		}
		_ = resp.Body.Close()
		if req, err = g.redirected(req, resp.StatusCode, to); err != nil {
			return nil, err
		}
	}
	return nil, &webError{message: "the tool's server redirects in a circle; nothing was done", detail: "it redirects in a circle; correct the URL"}
}

func (g *guard) redirected(req *http.Request, status int, to *url.URL) (*http.Request, error) {
	keeps := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	var detail string
	switch {
	case !sameOrigin(to, g.endpoint):
		detail = elsewhere("redirects to", to)
	case req.Method != http.MethodGet && !keeps: // it would become a GET
		detail = fmt.Sprintf("it answers %d %s to a POST; correct the URL", status, http.StatusText(status))
	default:
		next, err := rewound(req)
		if err != nil {
			return nil, err
		}
		next.URL = to
		return next, nil
	}
	e := &webError{message: "the tool's server redirects elsewhere; nothing was done", detail: detail}
	if !keeps { // what these lead to may be the result of what has been done
		e.unknown, e.elsewhere = true, sameOrigin(to, g.endpoint)
		e.message = "the tool's server redirects elsewhere; whether it took effect is unknown"
	}
	return nil, e
}

// rewound is the request once more, with its body from the start.
func rewound(req *http.Request) (*http.Request, error) {
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

// send sends one request. Its error says whether anything can have reached the
// server.
func (g *guard) send(req *http.Request) (*http.Response, error) {
	if token := req.Header["Authorization"]; g.secrets != nil && token != nil {
		g.secrets.note(http.Header{"Authorization": token}) // which may be that of OAuth
	}
	var dialled, written atomic.Bool
	_, plain := g.next.(*http.Transport)
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn: func(string) {
			dialled.Store(true)
			if plain { // which tries another connection only where the one it had kept took in no call
				written.Store(false)
			}
		},
		WroteHeaders: func() { written.Store(true) },
	})
	resp, err := g.next.RoundTrip(req.WithContext(ctx))
	switch {
	case err == nil, req.Context().Err() != nil:
		return resp, err
	case dialled.Load() && !written.Load():
		return nil, &webError{
			message: "the tool's server cannot be reached; nothing was done",
			detail:  "it cannot be reached; see that it runs and that the URL is right",
			err:     err,
		}
	}
	return nil, &webError{
		unknown: true,
		message: "the connection to the tool's server was lost; whether it took effect is unknown",
		detail:  "the connection was lost before an answer came",
		err:     err,
	}
}
