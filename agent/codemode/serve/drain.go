package serve

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainer is a transport that waits for running calls before it ends. Without it, the SDK cancels running
// calls at the end of the input, and cannot send their responses. The drainer also holds back notifications
// about changed lists, which the SDK would send before the client has begun its session.
type drainer struct {
	mcp.Transport
	calls  *counter
	lost   context.Context // ends when responses cannot be delivered anymore
	giveUp context.CancelFunc
	life   context.Context // a child of lost; its end stops reading
	end    context.CancelFunc

	mu      sync.Mutex
	open    map[jsonrpc.ID]bool        // calls without a response
	begun   bool                       // whether the client has begun its session
	changes map[string]jsonrpc.Message // notifications that are held back until the session begins, by method
}

func newDrainer(t mcp.Transport) *drainer {
	s := &drainer{
		Transport: t, calls: newCounter(), open: map[jsonrpc.ID]bool{}, changes: map[string]jsonrpc.Message{},
	}
	s.lost, s.giveUp = context.WithCancel(context.Background())
	s.life, s.end = context.WithCancel(s.lost)
	return s
}

// Connect implements [mcp.Transport].
func (s *drainer) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := s.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainerConn{Connection: c, s: s}, nil
}

// drain ends the connection once all calls have responses or giveUp is called.
func (s *drainer) drain() {
	s.settle()
	s.end()
}

// settle rejects further calls, and waits until all calls have responses or giveUp is called.
func (s *drainer) settle() {
	s.calls.stop()
	closedBefore(s.lost, s.calls.none)
}

// begin reports whether a call may begin.
func (s *drainer) begin(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] { // the SDK rejects the duplicate
		return true
	}
	s.open[id] = s.calls.begin()
	return s.open[id]
}

func (s *drainer) answered(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] {
		s.calls.end()
	}
	delete(s.open, id)
}

type drainerConn struct {
	mcp.Connection
	s *drainer
}

var errDraining = &jsonrpc.Error{
	Code: jsonrpc.CodeInternalError, Message: "the server is shutting down; nothing was done",
}

// Read implements [mcp.Connection]. It reports the end of the input only when all calls have responses. During a
// shutdown, it rejects calls, but passes on cancellations and the client's answers to questions of running calls.
func (c *drainerConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(c.s.life)
		if err != nil {
			c.s.settle()
			if c.s.life.Err() != nil {
				err = io.EOF
			}
			return nil, err
		}
		call, ok := msg.(*jsonrpc.Request)
		if ok {
			c.release(ctx, call)
		}
		if !ok || !call.IsCall() || c.s.begin(call.ID) {
			return msg, nil
		}
		if err := c.Write(ctx, &jsonrpc.Response{ID: call.ID, Error: errDraining}); err != nil {
			return nil, err
		}
	}
}

// hold keeps a notification about a changed list if the client has not begun its session. It reports whether it
// kept the notification.
func (s *drainer) hold(change *jsonrpc.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.changes[change.Method] = change
	}
	return !s.begun
}

// release sends the notifications that were held back if a message shows that the client has begun its session:
// notifications/initialized, or a call that clients make only in a session.
func (c *drainerConn) release(ctx context.Context, r *jsonrpc.Request) {
	early := !r.IsCall() || slices.Contains([]string{"initialize", "ping", "server/discover"}, r.Method)
	if early && r.Method != "notifications/initialized" {
		return
	}
	c.s.mu.Lock()
	changes := c.s.changes
	c.s.begun, c.s.changes = true, nil
	c.s.mu.Unlock()
	for _, change := range changes {
		go func() { _ = c.Connection.Write(ctx, change) }() // does not wait: the client may write before it reads
	}
}

// Write implements [mcp.Connection].
func (c *drainerConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if r, ok := msg.(*jsonrpc.Request); ok && strings.HasSuffix(r.Method, "/list_changed") && c.s.hold(r) {
		return nil
	}
	err := c.Connection.Write(ctx, msg)
	if answer, ok := msg.(*jsonrpc.Response); ok {
		c.s.answered(answer.ID)
	}
	return err
}

// Close implements [mcp.Connection].
func (c *drainerConn) Close() error {
	c.s.giveUp()
	return c.Connection.Close()
}

var errCanceled = errors.New("calls were still running at the end of the grace period and were canceled")

// counter counts running calls until no more may begin.
type counter struct {
	mu      sync.Mutex
	running int
	stopped chan struct{} // closed when no more calls may begin
	none    chan struct{} // closed when no call runs and no more calls may begin
}

func newCounter() *counter { return &counter{stopped: make(chan struct{}), none: make(chan struct{})} }

// begin reports whether a call may begin. If it may, the caller must call end.
func (c *counter) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isStopped() {
		return false
	}
	c.running++
	return true
}

func (c *counter) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running--; c.running == 0 && c.isStopped() {
		close(c.none)
	}
}

func (c *counter) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isStopped() {
		return
	}
	close(c.stopped)
	if c.running == 0 {
		close(c.none)
	}
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

func (c *counter) isStopped() bool { return isClosed(c.stopped) }
