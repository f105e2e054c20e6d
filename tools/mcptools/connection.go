package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

	gone     chan struct{} // closed when it has ended, and the process with it
	dropped  atomic.Bool   // nothing more is to be sent over it
	reported sync.Once

	listErr error // why the last listing failed; under server.mu

	mu         sync.Mutex
	fault      error       // why it ended, if not by itself
	comparison *comparison // with the tools of the connection before; nil before the first call
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

// drop gives up a connection over which nothing can be sent any more. Calls in
// flight may still be answered.
func (c *connection) drop(err error) {
	if c.stdio == nil {
		c.blame(fmt.Errorf("was lost (%w)", err))
	}
	if c.dropped.CompareAndSwap(false, true) {
		go c.session.Close() // watch sees to the rest
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

// watch follows the connection to its end, which is also that of the server's
// life.
func (c *connection) watch() {
	defer c.server.watched.Done()
	defer close(c.gone)
	stop := context.AfterFunc(c.server.life, func() {
		_ = c.link.conn.Close() // calls in flight end
		_ = c.session.Close()
	})
	_ = c.session.Wait()
	stop()
	_ = c.session.Close() // ends what the SDK still has running for it
	c.report()
}

// report tells the server that the connection is lost, unless it was closed.
func (c *connection) report() {
	c.reported.Do(func() {
		if !c.server.closing() {
			c.server.health.crashed(c.server.name, c.lost())
			c.server.keeper.wake()
		}
	})
}

// version is what was negotiated.
func (c *connection) version() string {
	if c.session == nil || c.session.InitializeResult() == nil {
		return ""
	}
	return c.session.InitializeResult().ProtocolVersion
}

// request makes one request and returns its result as the server wrote it.
func (c *connection) request(ctx context.Context, do func(context.Context) (any, error)) (json.RawMessage, error) {
	var r reply
	defer c.link.forget(&r)
	result, err := do(withReply(ctx, &r))
	if why := r.why.Load(); why != nil && err != nil && ctx.Err() == nil {
		err = *why
	}
	if r.sent.Load() && isUnsent(err) {
		err = fmt.Errorf("%w: %v", io.EOF, err) // it had been sent, whatever ended the connection
	}
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

// isUnsent reports whether a request failed because the connection or session
// had ended before.
func isUnsent(err error) bool {
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, errUnsent) || errors.Is(err, mcp.ErrSessionMissing)
}

// isLost reports whether a request failed because the connection is gone.
func isLost(err error) bool {
	return isUnsent(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, errFlood)
}

// lost says that the server is gone, and why as far as is known.
func (c *connection) lost() error {
	c.mu.Lock()
	fault := c.fault
	c.mu.Unlock()
	what := c.ending(fault)
	return &lostError{what: what, next: c.server.next(), evidence: c.evidence()}
}

// ending says how the connection ended; it waits for the process to have.
func (c *connection) ending(fault error) error {
	name := c.server.name
	switch {
	case fault != nil:
		return fmt.Errorf("mcp server %q %w", name, fault)
	case c.stdio == nil:
		return fmt.Errorf("mcp server %q closed the connection", name)
	}
	p := c.stdio.process
	if !p.ends(2 * drainTime) {
		return fmt.Errorf("mcp server %q closed its stdout", name)
	}
	<-p.done
	return fmt.Errorf("mcp server %q ended (%s)", name, p.status())
}

// lostError is the loss of a connection.
type lostError struct {
	what     error
	next     string // what the next use does; empty once it has
	evidence string
}

func (e *lostError) Error() string {
	if e.next == "" {
		return e.what.Error() + e.evidence
	}
	return e.what.Error() + "; " + e.next + e.evidence
}
func (e *lostError) Unwrap() error { return e.what }

// past is an error of a server that has recovered.
func past(err error) error {
	lost, ok := errors.AsType[*lostError](err)
	if !ok {
		return err
	}
	over := *lost
	over.next = ""
	return &over
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
