package serve

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler is an [http.Handler] that serves MCP; see [NewHandler].
type Handler struct {
	web  *web
	http http.Handler
}

// NewHandler returns a handler that serves everything that [Run] serves over HTTP, at the same paths.
// It calls newServer as Run does. Mount the handler and, before the program ends, shut it down:
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
// ReadHeaderTimeout. Its ReadTimeout and WriteTimeout would end long calls and streams. The handler
// replaces them with a timeout of 20 seconds for the message and for each piece of a response. If
// middleware wraps the http.ResponseWriter, the wrapper needs an Unwrap method, as described at
// [http.ResponseController]. Without this method, the timeouts of the http.Server apply. If the wrapper
// also has no Flush method, the handler refuses to open streams, so clients get no notifications outside
// of calls.
//
// # Security
//
// With Options.Auth, every request needs a token, and the handler ignores a principal that is already in the request's
// context. Without Options.Auth, the program can authenticate clients itself: its middleware sets the principal with
// [WithPrincipal], and the handler rejects principals without a name. If no principal is set, a request from a loopback
// address has the principal "local", and any other request gets status 403.
//
// If a reverse proxy runs on the same machine, all requests come from a loopback address: without
// authentication, anyone who can reach the proxy may use all tools. Middleware that sets RemoteAddr from
// a header has the same effect, because any client can send that header. In both cases, set Options.Auth,
// or have middleware set a principal for every request.
//
// As in Run, the host and the origin of every request are checked: list the server's names in Options.Hosts. The health
// paths need no authentication.
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

// Shutdown accepts no more calls, waits until the running calls have ended, and ends all sessions and streams. If ctx
// is done first, Shutdown cancels the handler's calls, with the cause [queue.ErrStopped], and returns an error. Afterward,
// the handler still serves its health paths; it rejects other requests with status 503.
//
// Call it before the http.Server's Shutdown method. That method waits for streams, which only Handler.Shutdown ends,
// and closes the listener, so that clients could not answer the questions of running calls.
func (h *Handler) Shutdown(ctx context.Context) error {
	h.web.Logger.Info("shutting down; waiting for running calls")
	return h.web.report(h.web.shutdown(ctx))
}
