package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
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
	sse        *sseServer
	stateless  http.Handler // the SDK's
	meter      webMeter
	calls      *counter
	streams    context.Context // ends streams that belong to no call
	endStream  context.CancelFunc
}

func (o *Options) web(newServer func(Principal) *mcp.Server) *web {
	s := &web{
		Options: o, newServer: newServer, middleware: newMiddleware(o.Logger),
		clients:  &clients{limits: o.Limits, byName: map[string]*client{}},
		sessions: &sessions{limits: o.Limits, all: map[string]*session{}, reserved: map[string]int{}},
		sse:      &sseServer{limits: o.Limits, all: map[string]*stream{}},
		calls:    newCounter(),
	}
	s.streams, s.endStream = context.WithCancel(context.Background())
	sdk := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
			Stateless: stateless, PropagateRequestCancellation: true,
			MaxRequestBodyBytes:        o.Limits.Body,
			DisableLocalhostProtection: true, // originPolicy is stricter
		})
	}
	s.stateless, s.sessions.handler = sdk(true), sdk(false)
	return s
}

// handler returns the handler for all paths. Health needs no token and reveals nothing else;
// metrics need a token.
func (s *web) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/healthz", s.countAs("healthz", http.HandlerFunc(healthz)))
	mux.Handle("/readyz", s.countAs("readyz", http.HandlerFunc(s.readyz)))
	mux.Handle("/metrics", s.countAs("metrics", s.Auth.require(s.Logger, http.HandlerFunc(s.metrics))))
	if path, _ := s.Auth.metadata(); path != "" {
		mux.Handle(path, s.countAs("metadata", auth.ProtectedResourceMetadataHandler(s.Auth.Resource)))
	}
	mux.Handle(s.Path, s.Auth.require(s.Logger, http.HandlerFunc(s.endpoint)))
	mux.Handle("/", s.countAs("unknown", http.HandlerFunc(http.NotFound)))
	return s.observe(newOriginPolicy(s.Options).protect(mux))
}

func healthz(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

func (s *web) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.calls.isStopped() {
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
		return
	}
	if err := s.Ready(); err != nil {
		s.Logger.Warn("not ready", "error", err)
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

func (s *web) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.writeMetrics(w)
}

func (s *web) writeMetrics(w io.Writer) {
	s.meter.write(w)
	gauge(w, "writ_sessions", "Sessions of clients of the older protocols.", s.sessions.count()+s.sse.count())
	if s.Queue != nil {
		s.Queue.WriteMetrics(w)
	}
	if s.Metrics != nil {
		s.Metrics(w)
	}
}

// logged is what the log and the metrics say about a request.
type logged struct{ method, principal string }

type loggedKey struct{}

func loggedOf(r *http.Request) *logged {
	if s, ok := r.Context().Value(loggedKey{}).(*logged); ok {
		return s
	}
	return &logged{}
}

func (s *web) countAs(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		loggedOf(r).method = name
		next.ServeHTTP(w, r)
	})
}

// observe counts and logs requests, and bounds the time to wait for their clients.
func (s *web) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		about := &logged{method: "refused"}
		answer := newResponse(w, s.Limits.StallTimeout)
		answer.extendWrite()
		if r.Body != http.NoBody {
			answer.limitRead()
		}
		s.meter.begin()
		defer func() {
			answer.extendWrite()
			took := time.Since(begin)
			s.meter.end(about.method, answer.status(), took)
			s.Logger.Debug("request", "method", about.method, "status", answer.status(),
				"principal", about.principal, "duration", took)
		}()
		next.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), loggedKey{}, about)))
	})
}

// endpoint serves the protocol to an authenticated client.
func (s *web) endpoint(w http.ResponseWriter, r *http.Request) {
	p, _ := PrincipalOf(r.Context())
	about := loggedOf(r)
	about.principal, about.method = p.Name, "unread"
	one, refused := s.clients.enter(p.Name)
	if refused != nil {
		refused.write(w, nil)
		return
	}
	defer func() {
		if !one.stays {
			one.leave()
		}
	}()
	m, refused := s.message(w, r, one)
	if refused == nil {
		about.method = m.method
		r = withCall(r, m, one)
	}
	if refused == nil {
		refused = s.dispatch(w, r, p, m)
	}
	if refused != nil {
		refused.write(w, m.id)
	}
}

// message reads the message of a request. It counts against the rate before it is read; the
// other messages of a batch count when their number is known. The rest of a refused message is
// read and dropped: a client that is still sending might not see the refusal.
func (s *web) message(w http.ResponseWriter, r *http.Request, from *request) (m message, refused *refusal) {
	body := r.Body
	if r.Method == http.MethodPost {
		refused = from.spend(1)
	}
	if refused == nil {
		m, refused = s.Limits.read(w, r, from)
	}
	if refused == nil && m.count > 1 {
		refused = from.spend(m.count - 1)
	}
	if refused != nil && r.ContentLength <= s.Limits.Body {
		_, _ = io.Copy(io.Discard, io.LimitReader(body, s.Limits.Body))
	}
	return m, refused
}

type callKey struct{}

// withCall makes a request that is one call end, for the limits, before its response is sent: a
// client that has the response may send another, although the stream is still open.
func withCall(r *http.Request, m message, one *request) *http.Request {
	if m.count != 1 || !m.calls {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), callKey{}, one))
}

// callOf returns the call of a request that is one call, or nil.
func callOf(ctx context.Context) *request {
	one, _ := ctx.Value(callKey{}).(*request)
	return one
}

func (s *web) dispatch(w http.ResponseWriter, r *http.Request, p Principal, m message) *refusal {
	switch news := r.Method == http.MethodGet || m.method == subscribe; {
	case news && s.calls.isStopped():
		return busy(errDraining.Message)
	case news && s.Transport == HTTP:
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.streams, cancel)()
		r = r.WithContext(ctx)
	case news || m.calls:
		if !s.calls.begin() {
			return busy(errDraining.Message)
		}
		defer s.calls.end()
	}
	if s.Transport == SSE {
		return s.serveSSE(w, r, p, m)
	}
	return s.serveHTTP(w, r, p, m)
}

// serveHTTP distinguishes the protocol versions with sessions from those without. The SDK needs
// a handler for each.
func (s *web) serveHTTP(w http.ResponseWriter, r *http.Request, p Principal, m message) *refusal {
	old := r.Header.Get("Mcp-Protocol-Version") < statelessVersion && !s.Stateless
	switch {
	case old && r.Header.Get(sessionHeader) != "":
		s.sessions.use(w, r, p)
		return nil
	case old && m.opening:
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

func (s *web) serveSSE(w http.ResponseWriter, r *http.Request, p Principal, m message) *refusal {
	switch r.Method {
	case http.MethodGet:
		return s.with(w, p, func(server *mcp.Server) *refusal { return s.sse.open(w, r, p, server) })
	case http.MethodPost:
		return s.sse.send(w, r, p, m)
	}
	w.Header().Set("Allow", "GET, POST")
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	return nil
}

// with calls serve with the server for a principal.
func (s *web) with(w http.ResponseWriter, p Principal, serve func(*mcp.Server) *refusal) *refusal {
	server := s.middleware.install(s.newServer(p))
	if server == nil {
		http.Error(w, "access denied", http.StatusForbidden)
		return nil
	}
	return serve(server)
}

// run serves until ctx ends.
func (s *web) run(ctx context.Context, l net.Listener) error {
	defer s.endStream()
	srv := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: s.Limits.StallTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	var failed error
	served := make(chan struct{})
	go func() {
		failed = srv.Serve(newLimitedListener(l, s.Limits.Connections))
		close(served)
	}()
	select {
	case <-served: // the listener failed
	case <-ctx.Done():
	}
	err := s.shutdown(context.WithoutCancel(ctx), srv)
	<-served
	if !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(fmt.Errorf("serving %s: %w", l.Addr(), failed), err)
	}
	return err
}

// shutdown waits for the running calls. Until they end, the server accepts answers to their
// questions and requests for its health, but no calls.
func (s *web) shutdown(ctx context.Context, srv *http.Server) error {
	s.Logger.Info("shutting down; waiting for running calls", "grace", s.Grace)
	s.calls.stop()
	s.sse.drain()
	canceled := 0
	defer func() { s.Logger.Info("shut down", "canceled", canceled) }()
	if s.ended(ctx, srv, s.Grace) {
		return nil
	}
	if canceled = s.running(); canceled > 0 && s.Queue != nil {
		s.Queue.Stop()
		if s.ended(ctx, srv, lastMoment) {
			return errCanceled
		}
	}
	s.abandon(ctx, srv)
	if canceled > 0 {
		return errCanceled
	}
	return nil // only connections and requests other than calls were left
}

// abandon ends the remaining connections, with their requests, and sessions. A handler that
// ignores its context keeps running.
func (s *web) abandon(ctx context.Context, srv *http.Server) {
	ctx, cancel := context.WithTimeout(ctx, lastMoment)
	defer cancel()
	s.endStream()
	s.sse.giveUp()
	srv.Close()
	s.sessions.close(ctx)
}

// running returns the number of calls without a response.
func (s *web) running() int {
	if s.Transport == SSE {
		return s.sse.calls() // the requests end before their responses
	}
	return s.calls.count()
}

// ended reports whether all calls, and then all requests and sessions, ended in time.
func (s *web) ended(ctx context.Context, srv *http.Server, grace time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	select {
	case <-s.calls.none:
	case <-ctx.Done():
		return false
	}
	s.endStream()
	return srv.Shutdown(ctx) == nil && s.sessions.close(ctx)
}
