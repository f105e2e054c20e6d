package serve

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// statelessVersion is the first protocol version without sessions.
const statelessVersion = "2026-07-28"

// web is a server over HTTP.
type web struct {
	*Options
	newServer  func(Principal) *mcp.Server
	middleware *middleware
	clients    *clients
	sessions   *sessions
	stateless  http.Handler // the SDK's
	meters     *meters
	calls      *counter
	requests   *counter        // to all paths
	life       context.Context // its end cancels all requests to the endpoint
	end        context.CancelFunc
	streams    context.Context // its end cancels the streams that belong to no call
	endStreams context.CancelFunc
}

func (o *Options) web(newServer func(Principal) *mcp.Server) *web {
	m := newMeters(o)
	s := &web{
		Options: o, newServer: newServer, middleware: newMiddleware(o.Logger, m), meters: m,
		clients:  newClients(o.limits),
		sessions: &sessions{limits: o.limits, meters: m, all: map[string]*session{}},
		calls:    newCounter(),
		requests: newCounter(),
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.streams, s.endStreams = context.WithCancel(s.life)
	sdk := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
			Stateless: stateless, PropagateRequestCancellation: true,
			MaxRequestBodyBytes:        o.limits.body,
			DisableLocalhostProtection: true, // originPolicy is stricter
		})
	}
	s.stateless, s.sessions.handler = sdk(true), sdk(false)
	return s
}

// handler returns the handler for all paths. The health paths need no token and reveal nothing else.
func (s *web) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", healthz)
	mux.HandleFunc("/readyz", s.readyz)
	if path, _ := s.Auth.metadata(); path != "" {
		mux.Handle(path, auth.ProtectedResourceMetadataHandler(s.Auth.Resource))
	}
	mux.Handle(s.Path, s.Auth.require(s.Logger, http.HandlerFunc(s.endpoint)))
	mux.HandleFunc("/", s.notFound)
	return s.observe(newOriginPolicy(s.Options).protect(mux))
}

func healthz(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

// notFound answers requests for unknown paths. A client's path may contain a secret, so it is logged only if
// the handler seems to be mounted under a prefix.
func (s *web) notFound(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, s.Path) {
		s.Logger.Debug("not found; mount the handler with http.StripPrefix", "path", cut(r.URL.Path),
			"served", s.Path)
	} else {
		s.Logger.Debug("not found", "served", s.Path)
	}
	http.NotFound(w, r)
}

func (s *web) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.calls.isStopped() {
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

// logged holds a request's values for the log.
type logged struct{ method, principal string }

type loggedKey struct{}

func loggedOf(r *http.Request) *logged {
	if s, ok := r.Context().Value(loggedKey{}).(*logged); ok {
		return s
	}
	return &logged{}
}

// observe counts and logs requests, and bounds the time that the server waits for their clients.
func (s *web) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		about := &logged{}
		answer := newResponse(w, s.limits.stall)
		answer.begin(r)
		if s.requests.begin() {
			defer s.requests.end()
		}
		end := s.meters.begin(r)
		r = r.WithContext(context.WithValue(r.Context(), loggedKey{}, about))
		defer func() {
			answer.extendWrite()
			took := time.Since(begin)
			end(r.Pattern, answer.status(), took)
			s.Logger.Debug("request", "method", cmp.Or(about.method, r.Pattern, "refused"), "status", answer.status(),
				"principal", about.principal, "duration", took)
		}()
		next.ServeHTTP(answer, r)
	})
}

// endpoint serves the protocol to an authenticated client.
func (s *web) endpoint(w http.ResponseWriter, r *http.Request) {
	p, _ := PrincipalOf(r.Context())
	about := loggedOf(r)
	about.principal, about.method = p.Name, "unread"
	if s.requests.isStopped() {
		busy(errDraining.Message).write(w, nil)
		return
	}
	one, refused := s.clients.enter(p.Name)
	if refused != nil {
		refused.write(w, nil)
		return
	}
	defer one.leave()
	m, refused := s.message(w, r, one)
	if refused == nil {
		about.method = m.method
		if m.call {
			r = r.WithContext(context.WithValue(r.Context(), callKey{}, one))
		}
		refused = s.dispatch(w, r, p, m)
	}
	if refused != nil {
		refused.write(w, m.id)
	}
}

// message counts a request's message against the rate limit, and reads it. If the message is rejected, the rest of it
// is read and dropped, because a client that is still sending might not see the response.
func (s *web) message(w http.ResponseWriter, r *http.Request, from *request) (m message, refused *refusal) {
	body := r.Body
	if r.Method == http.MethodPost {
		refused = from.spend()
	}
	if refused == nil {
		m, refused = s.limits.read(w, r, from)
	}
	if refused != nil && r.ContentLength <= s.limits.body {
		_, _ = io.Copy(io.Discard, io.LimitReader(body, s.limits.body))
	}
	return m, refused
}

// callKey is the context key for a call's [request]. The request no longer counts against the limits once its response
// is sent: a client that has the response may send another request while the stream is still open.
type callKey struct{}

// callOf returns a call's request, or nil.
func callOf(ctx context.Context) *request {
	one, _ := ctx.Value(callKey{}).(*request)
	return one
}

func (s *web) dispatch(w http.ResponseWriter, r *http.Request, p Principal, m message) *refusal {
	life := s.life
	switch news := r.Method == http.MethodGet || m.method == subscribe; {
	case news && s.calls.isStopped():
		return busy(errDraining.Message)
	case news && !canFlush(w):
		s.Logger.Warn("cannot stream: a ResponseWriter of the host has no Flush method; add Flush or Unwrap")
		return invalid(http.StatusMethodNotAllowed, "this server cannot stream responses")
	case news:
		life = s.streams
	case m.call:
		if !s.calls.begin() {
			return busy(errDraining.Message)
		}
		defer s.calls.end()
	}
	ctx, cancel := context.WithCancel(s.middleware.mark(r.Context()))
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	r = r.WithContext(ctx)
	return s.serveHTTP(w, r, p, m)
}

// serveHTTP serves a request with the SDK's handler for protocol versions with sessions, or with its handler
// for later versions and stateless servers.
func (s *web) serveHTTP(w http.ResponseWriter, r *http.Request, p Principal, m message) *refusal {
	old := r.Header.Get("Mcp-Protocol-Version") < statelessVersion && !s.Stateless
	switch {
	case old && r.Header.Get(sessionHeader) != "":
		s.sessions.use(w, r, p)
		return nil
	case old && m.opening: // the SDK uses the context for all requests of the session
		r = r.WithContext(withoutSpan(r.Context()))
		return s.with(w, p, func(server *mcp.Server) *refusal { return s.sessions.begin(w, r, p, server) })
	case old && (r.Method == http.MethodGet || r.Method == http.MethodDelete):
		http.Error(w, "Mcp-Session-Id is missing", http.StatusBadRequest)
		return nil
	}
	return s.with(w, p, func(server *mcp.Server) *refusal {
		s.stateless.ServeHTTP(w, withServer(r, server))
		return nil
	})
}

// with calls serve with a principal's server. If newServer returns nil, the response has status 403.
func (s *web) with(w http.ResponseWriter, p Principal, serve func(*mcp.Server) *refusal) *refusal {
	server := s.middleware.install(s.newServer(p))
	if server == nil {
		http.Error(w, "access denied", http.StatusForbidden)
		return nil
	}
	return serve(server)
}
