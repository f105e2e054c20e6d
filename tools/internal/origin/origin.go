// Package origin sends HTTP requests to one origin. It follows redirects only within the origin, and says whether the
// server may have received a request that failed.
package origin

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
)

// Same reports whether two addresses have the same origin.
func Same(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host)
}

// PreventRetry keeps net/http from repeating a request after its connection was lost. net/http repeats a request that
// has one of these headers, but only if the header's name has its canonical spelling.
func PreventRetry(h http.Header) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := h[name]; ok {
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
}

// Send sends one request and follows no redirects. After an error, sent reports whether the server may have received
// the request.
func Send(next http.RoundTripper, req *http.Request) (resp *http.Response, sent bool, err error) {
	var dialed, written atomic.Bool
	_, standard := next.(*http.Transport)
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn: func(string) {
			dialed.Store(true)
			if standard { // net/http tries another connection only if the first one did not carry the request
				written.Store(false)
			}
		},
		WroteHeaders: func() { written.Store(true) },
	})
	resp, err = next.RoundTrip(req.WithContext(ctx))
	return resp, !dialed.Load() || written.Load(), err
}

// maxRedirects is how many redirects of one request are followed.
const maxRedirects = 5

// RedirectError reports a redirect that was not followed.
type RedirectError struct {
	To     *url.URL // nil if the server redirects in a loop
	Status int

	// Unprocessed means that the server asked for the same request elsewhere, so that it has not processed it. Any
	// other redirect may lead to the request's result.
	Unprocessed bool
}

// Error leaves out the path and the query of the address, which may contain secrets.
func (e *RedirectError) Error() string {
	if e.To == nil {
		return "the server redirects in a loop"
	}
	return fmt.Sprintf("the server redirects with status %d to %s://%s", e.Status, e.To.Scheme, e.To.Host)
}

// Follow sends a request and follows redirects within the origin of home. A request that may have an effect is
// redirected only if its method and its body stay the same. Follow returns a *[RedirectError] for other redirects. An
// [http.Client] would write the address into its errors.
func Follow(
	req *http.Request, home *url.URL, send func(*http.Request) (*http.Response, error),
) (*http.Response, error) {
	for range maxRedirects + 1 {
		resp, err := send(req)
		if err != nil {
			return nil, err
		}
		to, err := resp.Location()
		if resp.StatusCode < 300 || resp.StatusCode > 399 || err != nil {
			return resp, nil
		}
		_ = resp.Body.Close()
		same := resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect
		reads := req.Method == http.MethodGet || req.Method == http.MethodHead
		if !Same(to, home) || !reads && !same {
			return nil, &RedirectError{To: to, Status: resp.StatusCode, Unprocessed: same}
		}
		if req, err = Repeated(req); err != nil {
			return nil, err
		}
		req.URL = to
	}
	return nil, &RedirectError{Unprocessed: true}
}

// Repeated returns a copy of the request with its body from the start.
func Repeated(req *http.Request) (*http.Request, error) {
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
