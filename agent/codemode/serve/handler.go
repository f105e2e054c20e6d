package serve

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler serves MCP in the http.Server of a Go program; see [NewHandler].
type Handler struct {
	web  *web
	http http.Handler
}

// NewHandler returns a handler that does everything that [Run] does over HTTP, at the same paths.
// It calls newServer as Run does. Mount it and, before the program ends, shut it down:
//
//	h, err := serve.NewHandler(newServer, &serve.Options{Auth: tokens, Hosts: []string{"api.example.com"}})
//	mux.Handle("/tools/", http.StripPrefix("/tools", h)) // or mux.Handle("/mcp", h)
//	// …
//	h.Shutdown(ctx)
//	server.Shutdown(ctx)
//
// Mounted at /tools/ as above, the handler serves the protocol at /tools/mcp, its health at
// /tools/healthz, and so on. Mounted at Options.Path, it serves only the protocol. With OAuth, also
// mount it, without StripPrefix, at /.well-known/oauth-protected-resource/.
//
// Options.Transport is [HTTP] or empty. The handler ignores Addr, Listener, In,
// Out and Grace. The connections belong to the http.Server, which should have a
// ReadHeaderTimeout. The handler replaces its ReadTimeout and WriteTimeout, which would end long
// calls and streams, by 20 seconds for the message and for each piece of a response. If
// middleware wraps the http.ResponseWriter, the wrapper needs an Unwrap method, as described at
// [http.ResponseController]. Without one, the timeouts of the http.Server apply. If the wrapper
// cannot flush either, the handler refuses to open streams: clients get no notifications outside
// calls.
//
// # Security
//
// With Options.Auth, every request needs a token, and the handler ignores a principal that is
// already in the context of the request. Without Options.Auth, the program can authenticate clients
// itself: its middleware sets the principal with [WithPrincipal], and the handler refuses principals
// without a name. If a request has no principal, the handler serves it only if its RemoteAddr is a
// loopback address, as the principal "local". Otherwise, the response has status 403.
//
// If a reverse proxy runs on the same machine, all requests come from a loopback address: without
// authentication, anyone who can reach the proxy may use all tools. The same is true of middleware
// that sets RemoteAddr from a header, which any client can send. In both cases, set Options.Auth, or
// have middleware set a principal for every request.
//
// As in Run, the host and the origin of every request are checked: list the names of the server in
// Options.Hosts. The health paths need no authentication.
func NewHandler(newServer func(Principal) *mcp.Server, o *Options) (*Handler, error) {
	given := Options{}
	if o != nil {
		given = *o
	}
	given.Transport = cmp.Or(given.Transport, HTTP)
	o = given.defaults()
	o.Addr, o.Listener = "", nil
	var wrong error
	if o.Transport != HTTP {
		wrong = errors.New("the transport of a handler must be http; for stdio, use Run")
	}
	if err := errors.Join(append(o.checkWeb(), wrong)...); err != nil {
		return nil, err
	}
	s := o.web(newServer)
	return &Handler{web: s, http: s.handler()}, nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.http.ServeHTTP(w, r) }

// Shutdown accepts no more calls, waits until the running ones have ended, and ends all sessions and
// streams. If ctx ends first, it cancels the calls of this handler, with the cause [ErrStopped], and
// returns an error. After Shutdown, the handler still serves its health and metrics; it refuses other
// requests with status 503.
//
// Call it before the Shutdown method of the http.Server. That method waits for streams, which only
// this one ends, and closes the listener, so that clients could not answer the questions of running
// calls.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.web.Logger.Info("shutting down; waiting for running calls")
	return h.web.report(h.web.shutdown(ctx))
}
