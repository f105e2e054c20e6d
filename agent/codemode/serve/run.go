package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Run serves the servers that newServer returns, until ctx is done or the client on stdio closes its end. Running calls
// may then finish within Options.Grace. Run returns nil if all of them finished in time.
//
// Run calls newServer at the beginning of each session, and for each request without a session. newServer should return
// the same server for identical principals, and may return the same server for all: each principal sees only the tools
// that its Tools allow, on one page, and can call no others. The server's tools may change at any time. If newServer
// returns nil, the client gets status 403.
//
// Handlers get the principal from [PrincipalOf]. If a handler panics, its call ends with
// an internal error, and the log has the details; a panic in another goroutine ends the
// process.
func Run(ctx context.Context, newServer func(Principal) *mcp.Server, o *Options) error {
	if err := o.Check(ctx); err != nil {
		return err
	}
	o = o.defaults()
	if o.Transport == Stdio {
		m := newMiddleware(o.Logger, newMeters(o))
		server := m.install(newServer(local))
		if server == nil {
			return errors.New("newServer returned nil for the client on stdio")
		}
		return o.stdio(ctx, server, m)
	}
	l, err := o.listen(ctx)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	o.announce(l.Addr().String())
	return o.web(newServer).run(ctx, l)
}

func (s *web) run(ctx context.Context, l net.Listener) error {
	lasting := context.WithoutCancel(ctx)
	base := WithPrincipal(withoutSpan(lasting), local) // for the case without Auth, in which the listener is private
	srv := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: s.limits.stall,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	var failed error
	served := make(chan struct{})
	go func() {
		failed = srv.Serve(newLimitedListener(l, s.limits.connections))
		close(served)
	}()
	select {
	case <-served: // the listener failed
	case <-ctx.Done():
	}
	err := s.shutdownServer(lasting, srv)
	<-served
	if !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(fmt.Errorf("serving %s: %w", l.Addr(), failed), err)
	}
	return err
}

// shutdownServer ends the calls, within the grace period, and then the connections.
func (s *web) shutdownServer(ctx context.Context, srv *http.Server) error {
	s.Logger.Info("shutting down; waiting for running calls", "grace", s.Grace)
	inTime, cancel := context.WithTimeout(ctx, s.Grace)
	defer cancel()
	canceled := s.shutdown(inTime)
	last, cancel := context.WithTimeout(ctx, lastMoment)
	defer cancel()
	if !isClosed(s.requests.none) || srv.Shutdown(last) != nil {
		srv.Close()
	}
	return s.report(canceled)
}

// announce logs the server's address, and which clients can use it.
func (o *Options) announce(addr string) {
	log := o.Logger.With("url", "http://"+addr+o.Path, "transport", o.Transport)
	if o.Auth == nil {
		log.Warn("serving without authentication: all programs on this machine have access, and no other clients")
		return
	}
	log.Info("serving clients with a token")
}
