package mcptools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
	"github.com/writ-go/writ/tools/mcptools/internal/stdio"
	"github.com/writ-go/writ/tools/mcptools/internal/web"
)

// attempt is one attempt to connect. Concurrent users of the server wait for the same attempt.
type attempt struct {
	done chan struct{} // closed when conn or err is set
	conn *connection   // if err is also set, the next attempt closes it
	err  error
}

// connection returns the connection, or nil if the attempt has not ended or made no connection. The attempt may be nil.
func (a *attempt) connection() *connection {
	if a == nil {
		return nil
	}
	select {
	case <-a.done:
		return a.conn
	default:
		return nil
	}
}

// over reports whether another attempt is needed.
func (a *attempt) over() bool {
	select {
	case <-a.done:
		return a.conn == nil || !a.conn.alive()
	default:
		return false
	}
}

// live returns a connection that is not known to be lost. If there is no such connection, live starts the server or
// connects to it. The context bounds only the wait, not the attempt.
func (s *server) live(ctx context.Context) (*connection, error) {
	a := s.currentAttempt()
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("mcp server %q: waiting for it to start: %w", s.name, context.Cause(ctx))
	}
}

// currentAttempt returns the last attempt, or starts a new attempt if the last one is over.
func (s *server) currentAttempt() *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.attempt
	if last != nil && !last.over() {
		return last
	}
	next := &attempt{done: make(chan struct{})}
	if s.closing() {
		next.err = errClosed
		close(next.done)
		return next
	}
	s.attempt = next
	go func() {
		defer close(next.done)
		next.conn, next.err = s.connect(last)
	}()
	return next
}

// connect makes a new connection. Last is the previous attempt, or nil. After failures, connect returns an error until
// a pause is over.
func (s *server) connect(last *attempt) (*connection, error) {
	if last != nil && last.conn != nil {
		if last.conn.process != nil {
			_ = last.conn.process.Close() // two processes of the same server may conflict
		}
		last.conn.reportLoss()
		if !s.canReconnect() {
			return nil, last.conn.lost()
		}
	}
	if err := s.health.allowed(); err != nil {
		return nil, s.named(err)
	}
	ctx, cancel := context.WithTimeout(s.life, s.timeout())
	defer cancel()
	s.health.starting()
	c, err := s.dial(ctx)
	if err != nil {
		err = s.named(err)
		if !s.closing() {
			s.health.failed(s.name, err, false)
		}
		return nil, err
	}
	s.health.ready(s.name, c.version())
	s.watched.Add(1)
	go c.watch()
	return c, s.recheck(c) // on error, the next attempt cleans up
}

// canReconnect reports whether a lost connection can be replaced. Transports over a stream can connect only once.
func (s *server) canReconnect() bool {
	switch s.transport.(type) {
	case *mcp.IOTransport, *mcp.InMemoryTransport, *mcp.StdioTransport, *mcp.CommandTransport:
		return false
	}
	return true
}

// nextStep returns what happens, or what the host can do, after the connection was lost.
func (s *server) nextStep() string {
	switch {
	case !s.canReconnect():
		return "call Connect again"
	case s.transport == nil && s.config.URL == "":
		return "the next use starts it again"
	}
	return "the next use connects again"
}

// olderVersion is the protocol version tried first with a server on stdio. Most servers support it, and a server that
// does not support it says so at once. A server that does not support the newer version may exit at its first message,
// or stay silent, like an npx that is still fetching the server.
const olderVersion = "2025-11-25"

// dial starts the server, if there is a command, and connects to it.
func (s *server) dial(ctx context.Context) (*connection, error) {
	switch {
	case s.transport != nil:
		c := &connection{server: s}
		err := c.handshake(ctx, &exchangeTransport{s.transport, c}, "")
		if err != nil {
			return nil, describeHandshake(err, "that the transport leads to one")
		}
		return c, nil
	case s.config.URL != "":
		return s.dialURL(ctx)
	}
	c, err := s.start(ctx, olderVersion)
	if failed, ok := errors.AsType[*handshakeError](err); ok && failed.answered && ctx.Err() == nil {
		c, err = s.start(ctx, "")
	}
	return c, err
}

// dialURL connects to a server with a URL. If the type is not known, it tries the transport that
// the URL suggests, and then the other transport, as the protocol's section on backward compatibility
// prescribes.
func (s *server) dialURL(ctx context.Context) (*connection, error) {
	u, err := web.ParseURL(s.config.URL)
	if err != nil {
		return nil, fmt.Errorf(`"url" %w`, err)
	}
	var errs []error
	for _, typ := range web.Types(s.config.Type, u) {
		c := &connection{server: s}
		t := &web.Transport{Config: web.Config{
			Server: s.name, URL: u, Type: typ, Headers: s.config.Headers, HeaderFunc: s.o.HeaderFunc,
			OAuth: s.oauth, Client: s.o.HTTPClient,
			Limit: s.o.MaxMessage, Grace: s.o.Grace, Secrets: &s.secrets, Exchange: &c.exchange,
		}}
		err := c.handshake(ctx, t, "")
		if err == nil {
			return c, nil
		}
		if c.conn != nil {
			_ = c.conn.Close()
		}
		if errs = append(errs, s.describeDial(ctx, err)); !web.IsOtherTransport(err) {
			break
		}
	}
	switch {
	case len(errs) > 1 && errs[0].Error() == errs[1].Error():
		return nil, fmt.Errorf("its URL serves neither transport: %w", errs[0])
	case len(errs) > 1:
		return nil, fmt.Errorf("its URL serves neither transport:\n  %w\n  %w", errs[0], errs[1])
	}
	return nil, errs[0]
}

// describeDial returns the error for a failed handshake over HTTP.
func (s *server) describeDial(ctx context.Context, err error) error {
	failed, known := errors.AsType[*web.Error](err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v; check that the URL points to an MCP server, or raise the timeout",
			s.timeout())
	case ctx.Err() != nil:
		return errors.New("connecting was canceled")
	case known:
		return failed
	}
	return errors.New(s.secrets.Hide(describeHandshake(err, "that its URL points to one").Error()))
}

// start starts the process and connects to it. On error it stops the process.
func (s *server) start(ctx context.Context, version string) (*connection, error) {
	c := s.config
	process, err := stdio.Start(stdio.Command{
		Path: c.Command, Args: c.Args, Env: c.Env, Inherit: s.o.Env, Dir: c.Dir,
	}, s.o.MaxMessage, s.o.Grace)
	if err != nil {
		return nil, err
	}
	conn := &connection{server: s, process: process}
	s.health.setProcess(process)
	if err := conn.handshake(ctx, &exchangeTransport{process, conn}, version); err != nil {
		exited := conn.endedBy() == nil && isLost(err) && process.Exited()
		_ = process.Close()
		return nil, conn.handshakeFailed(ctx, err, exited)
	}
	return conn, nil
}

// handshakeError reports that a process was started, but the handshake with it failed.
type handshakeError struct {
	message  string
	answered bool // the server answered, so another protocol version may work
	err      error
}

func (e *handshakeError) Error() string { return e.message }
func (e *handshakeError) Unwrap() error { return e.err }

func (c *connection) handshakeFailed(ctx context.Context, err error, exited bool) error {
	var what string
	answered, fault := false, c.endedBy()
	switch {
	case fault != nil:
		what = "handshake: it " + fault.Error()
	case exited:
		status, _ := c.process.Exit()
		what = fmt.Sprintf("exited before it answered (%s); run its command by hand to see why", status)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		what = fmt.Sprintf("no answer within %v; check that its command starts an MCP server on stdio, or raise "+
			"the timeout", c.server.timeout())
	case ctx.Err() != nil:
		what = "connecting was canceled"
	default:
		what, answered = describeHandshake(err, "that its command starts one on stdio").Error(), true
	}
	return &handshakeError{message: what + c.process.Evidence(), answered: answered, err: err}
}

// describeHandshake adds advice to the error if the answer shows that the peer is not an MCP server.
func describeHandshake(err error, check string) error {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && wire.Code == jsonrpc.CodeMethodNotFound {
		return fmt.Errorf("handshake: %w; it does not answer like an MCP server; check %s", err, check)
	}
	return fmt.Errorf("handshake: %w", err)
}

func (c *connection) handshake(ctx context.Context, t mcp.Transport, version string) error {
	c.exchange.Notify = c.server.notifications.receive
	client := mcp.NewClient(&mcp.Implementation{Name: "writ", Version: "0"}, c.clientOptions())
	session, err := client.Connect(ctx, &recordingTransport{t, c}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return err
	}
	c.session, c.gone = session, make(chan struct{})
	return nil
}

// recordingTransport records the connection of the transport. It does not wrap the connection, because the SDK
// recognizes connections of its own HTTP transports by their types.
type recordingTransport struct {
	mcp.Transport
	c *connection
}

// Connect implements [mcp.Transport].
func (t *recordingTransport) Connect(ctx context.Context) (conn mcp.Connection, err error) {
	t.c.conn, err = t.Transport.Connect(ctx)
	return t.c.conn, err
}

// exchangeTransport is a transport whose messages pass through the exchange of a connection. The
// transports of package web pass their messages through the exchange themselves.
type exchangeTransport struct {
	mcp.Transport
	c *connection
}

// Connect implements [mcp.Transport].
func (t *exchangeTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &exchangeConn{conn, t.c}, nil
}

type exchangeConn struct {
	mcp.Connection
	c *connection
}

// Write implements [mcp.Connection].
func (x *exchangeConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	x.c.exchange.Expect(ctx, msg)
	err := x.Connection.Write(ctx, msg)
	if request, ok := msg.(*jsonrpc.Request); ok && request.IsCall() && err == nil {
		message.CallOf(ctx).MarkSent()
	}
	x.c.exchange.Answered(msg)
	return err
}

// Read implements [mcp.Connection].
func (x *exchangeConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := x.Connection.Read(ctx)
		deliver := false
		if err == nil {
			deliver, err = x.c.exchange.Receive(msg)
		}
		if isViolation(err) {
			x.c.setFault(err)
			go x.Connection.Close() // Close may wait until the server reads its responses
		}
		if err != nil || deliver {
			return msg, err
		}
	}
}

// named puts the server's name before an error.
func (s *server) named(err error) error {
	return &namedError{fmt.Sprintf("mcp server %q: ", s.name), "", err}
}

// namedError puts the names of the server and, if not empty, the tool before an error. It removes the server's name
// from the rest of the message.
type namedError struct {
	server, tool string
	err          error
}

func (e *namedError) Error() string {
	return display.Text(e.server + e.tool + strings.ReplaceAll(e.err.Error(), e.server, ""))
}
func (e *namedError) Unwrap() error { return e.err }
