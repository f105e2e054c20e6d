package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// settling is a transport whose end waits for the calls that run. The SDK cancels
// them when nothing more can be read, and could not send their answers then.
type settling struct {
	mcp.Transport
	life   context.Context // of reading
	end    context.CancelFunc
	ending chan struct{} // closed when no more calls are taken
	lost   chan struct{} // closed when nobody waits for answers any more

	mu      sync.Mutex
	open    map[jsonrpc.ID]bool     // calls without an answer
	waiting map[jsonrpc.ID][]func() // are called when those are answered
	settled chan struct{}           // closed when there are none, once ending is closed
	given   bool                    // lost is closed
}

func newSettling(t mcp.Transport) *settling {
	s := &settling{
		Transport: t, ending: make(chan struct{}), lost: make(chan struct{}),
		open: map[jsonrpc.ID]bool{}, waiting: map[jsonrpc.ID][]func(){}, settled: make(chan struct{}),
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Connect is of [mcp.Transport].
func (s *settling) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := s.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &settlingConn{Connection: c, s: s}, nil
}

// SupportsProtocolVersion is of [mcp.ProtocolVersionSupporter].
func (s *settling) SupportsProtocolVersion(version string) bool {
	t, ok := s.Transport.(mcp.ProtocolVersionSupporter)
	return !ok || t.SupportsProtocolVersion(version)
}

// drain ends the connection when all calls are answered, or it is given up. A
// lingering one stays for a moment: there are clients that forget an answer if the
// end comes on its heels, the SDK's of the old transport among them.
func (s *settling) drain(linger time.Duration) {
	s.settle()
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.lost:
	}
	s.end()
}

// giveUp ends the connection now.
func (s *settling) giveUp() {
	s.mu.Lock()
	if !s.given {
		s.given = true
		close(s.lost)
	}
	for id, all := range s.waiting {
		for range all {
			s.done(id)
		}
	}
	s.mu.Unlock()
	s.end()
}

// expect has a function called when a call is answered, or when it will never be. It
// returns the id of the call.
func (s *settling) expect(raw json.RawMessage, done func()) jsonrpc.ID {
	var value any
	_ = json.Unmarshal(raw, &value) // it is valid
	id, _ := jsonrpc.MakeID(value)  // any other is not accepted
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[id] = append(s.waiting[id], done)
	if s.given {
		s.done(id)
	}
	return id
}

// abandon takes back what was expected of a call.
func (s *settling) abandon(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done(id)
}

// done tells whoever waits for the end of a call. Of several with the same id, which no
// client should send, it is the first.
func (s *settling) done(id jsonrpc.ID) {
	all := s.waiting[id]
	if len(all) == 0 {
		return
	}
	all[0]()
	if s.waiting[id] = all[1:]; len(all) == 1 {
		delete(s.waiting, id)
	}
}

// settle takes no more calls, and returns when all are answered or it is given up.
func (s *settling) settle() {
	s.mu.Lock()
	if !isClosed(s.ending) {
		close(s.ending)
		if len(s.open) == 0 {
			close(s.settled)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.settled:
	case <-s.lost:
	}
}

func (s *settling) begin(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isClosed(s.ending) {
		return false
	}
	s.open[id] = true
	return true
}

func (s *settling) answered(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done(id)
	if !s.open[id] {
		return
	}
	delete(s.open, id)
	if len(s.open) == 0 && isClosed(s.ending) {
		close(s.settled)
	}
}

// calls is how many have no answer yet.
func (s *settling) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

type settlingConn struct {
	mcp.Connection
	s *settling
}

var errDraining = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server is shutting down; nothing was done"}

// Read returns the next message; its end, only after all calls are answered. In
// between calls are refused, but answers to what running calls asked the client,
// and cancellations, go through.
func (c *settlingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
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
		if !ok || !call.IsCall() || c.s.begin(call.ID) {
			return msg, nil
		}
		if err := c.Write(ctx, &jsonrpc.Response{ID: call.ID, Error: errDraining}); err != nil {
			return nil, err
		}
	}
}

// Write notes which calls are answered.
func (c *settlingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if answer, ok := msg.(*jsonrpc.Response); ok {
		c.s.answered(answer.ID)
	}
	return err
}

// Close ends the waiting for calls too.
func (c *settlingConn) Close() error {
	c.s.giveUp()
	return c.Connection.Close()
}

var errUnsettled = errors.New("calls were still running when the grace was over, and were cancelled")
