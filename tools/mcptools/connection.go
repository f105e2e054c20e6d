package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
	"github.com/writ-go/writ/tools/mcptools/internal/stdio"
)

// connection is one connection to a server, from its handshake to its end. A server that is started
// again gets a new connection.
type connection struct {
	server    *server
	process   *stdio.Server // nil for a server that the caller runs
	exchange  message.Exchange
	conn      mcp.Connection
	session   *mcp.ClientSession
	questions atomic.Int32 // number of questions from the server since its last response to a call
	rechecked time.Time    // when its tools were listed and compared with an earlier connection's tools

	gone     chan struct{} // closed when the connection has ended and its process, if any, has exited
	dropped  atomic.Bool   // no more requests are sent over the connection
	reported sync.Once

	listErr error // why the last listing failed; guarded by server.mu

	mu    sync.Mutex
	fault error // why this side ended the connection
}

// alive reports whether the connection can carry another request, as far as this side knows.
func (c *connection) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return !c.dropped.Load() && (c.process == nil || !c.process.Ended())
	}
}

// drop gives up a connection that can no longer send anything. Calls in flight may still get
// their responses.
func (c *connection) drop(err error) {
	if c.process == nil {
		c.setFault(fmt.Errorf("was lost (%w)", err))
	}
	if c.dropped.CompareAndSwap(false, true) {
		go c.session.Close() // watch then reports the loss
	}
}

// setFault records why this side ends the connection. Only the first reason is kept.
func (c *connection) setFault(fault error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == nil {
		c.fault = fault
	}
}

// endedBy returns why this side ended the connection, or nil if it did not.
func (c *connection) endedBy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fault
}

// watch waits until the connection ends, and ends it when the server is closed.
func (c *connection) watch() {
	defer c.server.watched.Done()
	defer close(c.gone)
	stop := context.AfterFunc(c.server.life, func() {
		_ = c.conn.Close() // ends the calls in flight
		_ = c.session.Close()
	})
	_ = c.session.Wait()
	stop()
	_ = c.session.Close() // stops what the SDK still runs for the session
	c.reportLoss()
}

// reportLoss records that the connection was lost, unless the server was closed.
func (c *connection) reportLoss() {
	c.reported.Do(func() {
		if !c.server.closing() {
			c.server.health.failed(c.server.name, c.lost(), true)
			c.server.refresher.wake()
		}
	})
}

// version returns the negotiated protocol version.
func (c *connection) version() string {
	if c.session == nil || c.session.InitializeResult() == nil {
		return ""
	}
	return c.session.InitializeResult().ProtocolVersion
}

// request makes one request and returns its result as the server wrote it.
func (c *connection) request(
	ctx context.Context, call *message.Call, do func(context.Context) (any, error),
) (json.RawMessage, error) {
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	call.Cancel = cancel
	defer c.exchange.Forget(call)
	result, err := do(message.WithCall(own, call))
	if cause := call.Err(); cause != nil && err != nil && ctx.Err() == nil {
		err = cause
	}
	if call.Sent() && isUnsent(err) {
		err = fmt.Errorf("%w: %v", io.EOF, err) // the request was sent, although err says that it was not
	}
	switch {
	case err != nil && call.Asked() && ctx.Err() == nil:
		return nil, fmt.Errorf("%w: %w", errUnanswered, err)
	case err != nil:
		return nil, err
	case call.Result != nil:
		return call.Result, nil
	}
	return json.Marshal(result)
}

// errUnanswered reports that the server asked its client a question, such as for a decision of the user, and got no
// answer.
var errUnanswered = errors.New("the tool asked its client a question")

// isUnsent reports whether a request was not sent because the connection or session had ended.
func isUnsent(err error) bool {
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, stdio.ErrNotSent) ||
		errors.Is(err, mcp.ErrSessionMissing)
}

// isLost reports whether a request failed because the connection was lost.
func isLost(err error) bool {
	return isUnsent(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || isViolation(err)
}

// isViolation reports whether the connection was closed because the server violated the protocol.
func isViolation(err error) bool {
	_, ok := errors.AsType[message.ViolationError](err)
	return ok
}

// lost returns the error for the loss of the connection.
func (c *connection) lost() error {
	return fmt.Errorf("%w; %s%s", c.ending(c.endedBy()), c.server.nextStep(), c.evidence())
}

// ending returns how the connection ended. It waits for the process to exit.
func (c *connection) ending(fault error) error {
	name := c.server.name
	switch {
	case fault != nil:
		return fmt.Errorf("mcp server %q %w", name, fault)
	case c.process == nil:
		return fmt.Errorf("mcp server %q closed the connection", name)
	}
	status, exited := c.process.Exit()
	if !exited {
		return fmt.Errorf("mcp server %q closed its stdout", name)
	}
	return fmt.Errorf("mcp server %q exited (%s)", name, status)
}

// evidence returns what the process wrote that may explain a failure.
func (c *connection) evidence() string {
	if c.process == nil {
		return ""
	}
	return c.process.Evidence()
}
