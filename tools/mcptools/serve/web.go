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

// newEra is the protocol in which every request stands for itself.
const newEra = "2026-07-28"

// web is a server over HTTP.
type web struct {
	*Options
	newServer func(Principal) *mcp.Server
	receiver  *receiver
	clients   *clients
	sessions  *sessions
	events    *events
	stateless http.Handler // the SDK's
	meter     webMeter
	calls     *tally
	streams   context.Context // ends those that only wait for news
	endStream context.CancelFunc
}

func (o *Options) web(newServer func(Principal) *mcp.Server) *web {
	s := &web{
		Options: o, newServer: newServer, receiver: newReceiver(o.Logger),
		clients:  &clients{limits: o.Limits, all: map[string]*client{}},
		sessions: &sessions{limits: o.Limits, all: map[string]*session{}, begun: map[string]int{}},
		events:   &events{limits: o.Limits, all: map[string]*stream{}},
		calls:    newTally(),
	}
	s.streams, s.endStream = context.WithCancel(context.Background())
	sdk := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
			Stateless: stateless, PropagateRequestCancellation: true,
			MaxRequestBodyBytes:        o.Limits.Body,
			DisableLocalhostProtection: true, // the gate is stricter
		})
	}
	s.stateless, s.sessions.handler = sdk(true), sdk(false)
	return s
}

// handler is everything there is, by path. Health is for whoever restarts the
// process and says nothing else; metrics are for those who may ask.
func (s *web) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/healthz", s.named("healthz", http.HandlerFunc(healthz)))
	mux.Handle("/readyz", s.named("readyz", http.HandlerFunc(s.readyz)))
	mux.Handle("/metrics", s.named("metrics", s.Auth.require(s.Logger, http.HandlerFunc(s.metrics))))
	if path, _ := s.Auth.metadata(); path != "" {
		mux.Handle(path, s.named("metadata", auth.ProtectedResourceMetadataHandler(s.Auth.Resource)))
	}
	mux.Handle(s.Path, s.Auth.require(s.Logger, http.HandlerFunc(s.endpoint)))
	mux.Handle("/", s.named("unknown", http.HandlerFunc(http.NotFound)))
	return s.observe(newGate(s.Options).guard(mux))
}

func healthz(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

func (s *web) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.calls.over() {
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
	gauge(w, "writ_sessions", "Sessions of clients of the older protocols.", s.sessions.count()+s.events.count())
	if s.Queue != nil {
		s.Queue.WriteMetrics(w)
	}
	if s.Metrics != nil {
		s.Metrics(w)
	}
}

// seen is what the log and the metrics say of a request.
type seen struct{ method, principal string }

type seenKey struct{}

func see(r *http.Request) *seen {
	if s, ok := r.Context().Value(seenKey{}).(*seen); ok {
		return s
	}
	return &seen{}
}

func (s *web) named(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		see(r).method = name
		next.ServeHTTP(w, r)
	})
}

// observe counts requests, logs them, and sees to it that none waits for its client
// forever.
func (s *web) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		about := &seen{method: "refused"}
		answer := newResponse(w, s.Limits.Stall)
		answer.hurry()
		if r.Body != http.NoBody {
			answer.expect()
		}
		s.meter.begin()
		defer func() {
			answer.hurry()
			took := time.Since(begin)
			s.meter.end(about.method, answer.status(), took)
			s.Logger.Debug("request", "method", about.method, "status", answer.status(), "principal", about.principal, "duration", took)
		}()
		next.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), seenKey{}, about)))
	})
}

// endpoint serves the protocol itself, to somebody who is known.
func (s *web) endpoint(w http.ResponseWriter, r *http.Request) {
	p, _ := PrincipalOf(r.Context())
	about := see(r)
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
		r = answering(r, m, one)
	}
	if refused == nil {
		refused = s.dispatch(w, r, p, m)
	}
	if refused != nil {
		refused.write(w, m.id)
	}
}

// message reads the message of a request. It counts for the rate before it is read, and
// the others of a batch count when it is known how many there are. What is left of a message
// that is refused is read and dropped: otherwise its client, who still sends it, might not
// see the refusal.
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

// answering has a request that is one call end, for the limit, before its answer is
// sent: who has the answer may ask again, though the stream it came in is still open.
func answering(r *http.Request, m message, one *request) *http.Request {
	if m.count != 1 || !m.calls {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), callKey{}, one))
}

// callOf returns the one call that a request is; nil if it is not one.
func callOf(ctx context.Context) *request {
	one, _ := ctx.Value(callKey{}).(*request)
	return one
}

func (s *web) dispatch(w http.ResponseWriter, r *http.Request, p Principal, m message) *refusal {
	switch news := r.Method == http.MethodGet || m.method == subscribe; {
	case news && s.calls.over():
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

// serveHTTP decides which era a request is of. Only the older one has sessions, and
// the SDK serves only one of them by one handler.
func (s *web) serveHTTP(w http.ResponseWriter, r *http.Request, p Principal, m message) *refusal {
	old := r.Header.Get("Mcp-Protocol-Version") < newEra && !s.Stateless
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
		return s.with(w, p, func(server *mcp.Server) *refusal { return s.events.open(w, r, p, server) })
	case http.MethodPost:
		return s.events.send(w, r, p, m)
	}
	w.Header().Set("Allow", "GET, POST")
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	return nil
}

// with serves a principal with the server that is for him.
func (s *web) with(w http.ResponseWriter, p Principal, serve func(*mcp.Server) *refusal) *refusal {
	server := s.receiver.before(s.newServer(p))
	if server == nil {
		http.Error(w, "nothing is served to you", http.StatusForbidden)
		return nil
	}
	return serve(server)
}

// run serves until ctx ends.
func (s *web) run(ctx context.Context, l net.Listener) error {
	defer s.endStream()
	srv := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: s.Limits.Stall,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	var failed error
	served := make(chan struct{})
	go func() {
		failed = srv.Serve(newBounded(l, s.Limits.Connections))
		close(served)
	}()
	select {
	case <-served: // nobody can come any more
	case <-ctx.Done():
	}
	err := s.shutdown(context.WithoutCancel(ctx), srv)
	<-served
	if !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(fmt.Errorf("serving %s: %w", l.Addr(), failed), err)
	}
	return err
}

// shutdown lets the calls that run come to their end. Until then the server can be
// reached: for the answers to what they ask their clients, and for whoever wants to
// know whether it is ready. No calls begin.
func (s *web) shutdown(ctx context.Context, srv *http.Server) error {
	s.Logger.Info("shutting down; calls that run may end", "grace", s.Grace)
	s.calls.stop()
	s.events.drain()
	cut := 0
	defer func() { s.Logger.Info("shut down", "cut", cut) }()
	if s.ended(ctx, srv, s.Grace) {
		return nil
	}
	if cut = s.running(); cut > 0 && s.Queue != nil {
		s.Queue.Stop()
		if s.ended(ctx, srv, lastMoment) {
			return errUnsettled
		}
	}
	s.abandon(ctx, srv)
	if cut > 0 {
		return errUnsettled
	}
	return nil // what was left were connections, and requests that are no calls
}

// abandon ends what is still there: connections, and with them the requests on them,
// and sessions, unless a handler stays that nothing can end.
func (s *web) abandon(ctx context.Context, srv *http.Server) {
	ctx, cancel := context.WithTimeout(ctx, lastMoment)
	defer cancel()
	s.endStream()
	s.events.giveUp()
	srv.Close()
	s.sessions.close(ctx)
}

// running is how many calls have no answer yet.
func (s *web) running() int {
	if s.Transport == SSE {
		return s.events.calls() // its requests end before their answers
	}
	return s.calls.count()
}

// ended reports whether all calls, and then all requests and sessions, ended in
// time.
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
