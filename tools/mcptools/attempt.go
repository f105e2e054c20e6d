package mcptools

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// attempt is one attempt to connect, and the connection that came of it. All
// who need the server at once wait for the same one.
type attempt struct {
	done chan struct{} // closed when conn or err is set
	conn *connection
	err  error
}

// connection returns what came of the attempt: nil if it failed, is still being
// made, or was never.
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

// live returns a connection that works as far as is known. It starts the
// server, or connects to it, if there is none; ctx bounds only the waiting.
func (s *server) live(ctx context.Context) (*connection, error) {
	a := s.current()
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("mcp server %q: waiting for it to start: %w", s.name, context.Cause(ctx))
	}
}

// current returns the last attempt, or a new one if that is over.
func (s *server) current() *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.attempt
	if last != nil && !last.over() {
		return last
	}
	next := &attempt{done: make(chan struct{})}
	if s.closing() {
		next.err = ErrClosed
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

// connect makes a new connection after the last attempt, unless it is too early
// for one. Its error is also the server's.
func (s *server) connect(last *attempt) (*connection, error) {
	if last != nil && last.conn != nil {
		if last.conn.stdio != nil {
			_ = last.conn.stdio.Close() // two of the same may not get along
		}
		last.conn.report()
		if !s.again() {
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
			s.health.failed(s.name, err)
		}
		return nil, err
	}
	s.health.connected(s.name, c.version())
	s.watched.Add(1)
	go c.watch()
	return c, nil
}

// again reports whether a lost connection can be made anew. These transports
// are one stream, which has been used.
func (s *server) again() bool {
	switch s.transport.(type) {
	case *mcp.IOTransport, *mcp.InMemoryTransport, *mcp.StdioTransport, *mcp.CommandTransport:
		return false
	default:
		return true
	}
}

// next says what happens after a loss.
func (s *server) next() string {
	switch {
	case !s.again():
		return "connect again"
	case s.transport == nil && s.config.URL == "":
		return "the next use starts it again"
	default:
		return "the next use connects again"
	}
}

// named puts the server's name before an error, once.
func (s *server) named(err error) error {
	return &namedError{fmt.Sprintf("mcp server %q: ", s.name), "", err}
}

// namedError is an error with the name of its server before it, and perhaps of
// its tool; others have put the server's name there before.
type namedError struct {
	server, tool string
	err          error
}

func (e *namedError) Error() string {
	return e.server + e.tool + strings.ReplaceAll(e.err.Error(), e.server, "")
}
func (e *namedError) Unwrap() error { return e.err }
