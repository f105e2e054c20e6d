package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reply receives the result of one request as the server wrote it.
//
// The SDK decodes schemas and structured content into Go maps, which loses the
// order of properties and the exactness of integers, and fails a whole result
// over one block of an unknown type. So the connection keeps the bytes and
// gives the SDK an empty result in their place, which also saves decoding them
// twice.
type reply struct {
	raw   json.RawMessage // valid once the request has returned without an error
	id    jsonrpc.ID
	asked atomic.Bool // the answer was a question
}

type replyKey struct{}

// withReply asks for the raw result of the one request made under the context.
func withReply(ctx context.Context, r *reply) context.Context {
	return context.WithValue(ctx, replyKey{}, r)
}

// tap is a transport whose connection fills in replies.
type tap struct {
	mcp.Transport
	conn mcp.Connection // once connected
	raw  *tappedConn    // nil where results cannot be tapped
}

// Connect implements [mcp.Transport].
func (t *tap) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.conn = conn
	if _, ok := t.Transport.(*mcp.StreamableClientTransport); ok {
		return conn, nil // the SDK must see this connection itself, to tell it the session's version
	}
	t.raw = &tappedConn{Connection: conn, waiting: map[jsonrpc.ID]*reply{}}
	return t.raw, nil
}

// forget drops a reply that will not be read.
func (t *tap) forget(r *reply) {
	if t.raw == nil {
		return
	}
	t.raw.mu.Lock()
	defer t.raw.mu.Unlock()
	delete(t.raw.waiting, r.id)
}

type tappedConn struct {
	mcp.Connection
	mu      sync.Mutex
	waiting map[jsonrpc.ID]*reply
}

// Write implements [mcp.Connection].
func (c *tappedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	request, ok := msg.(*jsonrpc.Request)
	if r, wanted := ctx.Value(replyKey{}).(*reply); ok && wanted && request.IsCall() {
		c.mu.Lock()
		r.id = request.ID
		r.asked.Store(false)
		c.waiting[request.ID] = r
		c.mu.Unlock()
	}
	return c.Connection.Write(ctx, msg)
}

// Read implements [mcp.Connection].
func (c *tappedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if response, ok := msg.(*jsonrpc.Response); ok && err == nil {
		c.fill(response)
	}
	return msg, err
}

func (c *tappedConn) fill(response *jsonrpc.Response) {
	c.mu.Lock()
	r := c.waiting[response.ID]
	delete(c.waiting, response.ID)
	c.mu.Unlock()
	switch {
	case r == nil, response.Error != nil:
	case wantsInput(response.Result):
		r.asked.Store(true)
	default:
		r.raw, response.Result = response.Result, json.RawMessage(`{}`)
	}
}

// wantsInput reports whether a result is a question to the client, which the
// SDK answers by asking once more with the answer (protocol 2026-07-28).
func wantsInput(result json.RawMessage) bool {
	if !bytes.Contains(result, []byte(`"input_required"`)) { // which nearly all do not
		return false
	}
	var head struct {
		ResultType string `json:"resultType"`
	}
	return json.Unmarshal(result, &head) == nil && head.ResultType == "input_required"
}
