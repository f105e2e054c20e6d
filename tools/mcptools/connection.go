package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connection is one connection to a server, from its handshake to its end. A
// server that crashes and is started again gets another.
type connection struct {
	server  *server
	session *mcp.ClientSession
	link    *tap
	stdio   *stdio // nil if somebody else runs the server
	asks    asks

	gone    chan struct{} // closed when it has ended, and the process with it
	dropped atomic.Bool   // nothing more is to be sent over it

	listErr error // why the last listing failed; under server.mu

	mu    sync.Mutex
	fault error // why it ended, if not by itself
}

// alive reports whether a request is worth sending.
func (c *connection) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return !c.dropped.Load() && (c.stdio == nil || !c.stdio.ended.Load())
	}
}

// drop gives up a connection over which nothing can be sent any more.
func (c *connection) drop(err error) {
	if c.stdio == nil {
		c.blame(fmt.Errorf("was lost (%w)", err))
	}
	if c.dropped.CompareAndSwap(false, true) {
		go c.link.conn.Close() // watch sees to the rest
	}
}

// blame notes for what the connection ends, where the process cannot tell.
func (c *connection) blame(fault error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == nil {
		c.fault = fault
	}
}

// watch follows the connection to its end, and tells the server if nobody
// wanted it.
func (c *connection) watch() {
	defer close(c.gone)
	_ = c.session.Wait()
	_ = c.session.Close() // ends what the SDK still has running for it
	if !c.server.closing() {
		c.server.health.crashed(c.server.name, c.lost())
	}
}

// close ends the session and waits for the process. Calls in flight may still
// be answered while the process ends; then they fail.
func (c *connection) close() error {
	err := c.link.conn.Close()
	_ = c.session.Close()
	<-c.gone
	if c.stdio == nil {
		return nil // what a transport says of its own end helps nobody
	}
	return err
}

// version is what was negotiated.
func (c *connection) version() string {
	if c.session == nil || c.session.InitializeResult() == nil {
		return ""
	}
	return c.session.InitializeResult().ProtocolVersion
}

// request makes one request and returns its result as the server wrote it, or
// as the SDK understood it where the connection cannot be tapped.
func (c *connection) request(ctx context.Context, do func(context.Context) (any, error)) (json.RawMessage, error) {
	var r reply
	defer c.link.forget(&r)
	result, err := do(withReply(ctx, &r))
	switch {
	case err != nil && r.asked.Load() && ctx.Err() == nil:
		return nil, &refusedError{err}
	case err != nil:
		return nil, err
	case r.raw != nil:
		return r.raw, nil
	default:
		return json.Marshal(result)
	}
}

// refusedError says that the server asked its client for something, such as a
// decision of the user, and did not get it.
type refusedError struct{ err error }

func (e *refusedError) Error() string {
	return "the tool asked its client for something: " + e.err.Error()
}
func (e *refusedError) Unwrap() error { return e.err }

// errUnsent is returned by a transport that did not send a message.
var errUnsent = errors.New("the server reads no more")

// isUnsent reports whether a request failed before it could reach the server.
// What the server itself says never counts: see heard.
func isUnsent(err error) bool {
	var op *net.OpError
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, errUnsent) ||
		errors.Is(err, mcp.ErrSessionMissing) || errors.As(err, &op) && op.Op == "dial"
}

// isLost reports whether a request failed because the connection is gone.
func isLost(err error) bool {
	return isUnsent(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)
}

// lost says that the server is gone, and why as far as is known.
func (c *connection) lost() error {
	c.mu.Lock()
	fault := c.fault
	c.mu.Unlock()
	name, next := c.server.name, c.server.next()
	switch {
	case fault != nil:
		return fmt.Errorf("mcp server %q %w; %s%s", name, fault, next, c.evidence())
	case c.stdio == nil:
		return fmt.Errorf("mcp server %q closed the connection; %s", name, next)
	}
	p := c.stdio.process
	if !p.ends(2 * drainTime) {
		return fmt.Errorf("mcp server %q closed its stdout; %s%s", name, next, c.evidence())
	}
	<-p.done
	return fmt.Errorf("mcp server %q ended (%s); %s%s", name, p.status(), next, c.evidence())
}

// evidence is what the process left behind to explain a failure.
func (c *connection) evidence() string {
	if c.stdio == nil {
		return ""
	}
	var b strings.Builder
	if lines, first := c.stdio.noise.seen(); lines > 0 {
		fmt.Fprintf(&b, "\n  its stdout was no MCP message: %q", first)
	}
	if text := c.stdio.process.stderr.String(); text != "" {
		b.WriteString("\n  its stderr ends:\n    " + strings.ReplaceAll(text, "\n", "\n    "))
	}
	return b.String()
}
