package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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
	lists bool                  // the request is for tools
	asked atomic.Bool           // the answer was a question
	sent  atomic.Bool           // the server may have taken in the request
	why   atomic.Pointer[error] // why there is no answer, which HTTP has no other way to say
}

// These codes in a server's answer look to the SDK as if it had closed the
// connection itself, so that the call was never made.
var closingCodes = []int64{-32003, -32004}

// answered keeps a server's error from being taken for the SDK's own.
func (r *reply) answered(err error) {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && slices.Contains(closingCodes, wire.Code) {
		r.why.Store(&err)
	}
}

// leaves notes that the request may reach the server, and reports whether it is
// the first of its call to.
func (r *reply) leaves() bool { return r != nil && !r.sent.Swap(true) }

// returns notes that the request was turned away unread.
func (r *reply) returns() { r.sent.Store(false) }

type replyKey struct{}

// replyOf returns the reply that a request under the context is for; nil for none.
func replyOf(ctx context.Context) *reply {
	r, _ := ctx.Value(replyKey{}).(*reply)
	return r
}

// withReply asks for the raw result of the one request made under the context.
func withReply(ctx context.Context, r *reply) context.Context {
	return context.WithValue(ctx, replyKey{}, r)
}

// replies are those that one connection waits for.
type replies struct {
	notice func(method string, params json.RawMessage) // is told of notifications; nil leaves them to the SDK

	mu      sync.Mutex
	waiting map[jsonrpc.ID]*reply
}

// hears takes in a message if it is a notification. The SDK, which queues them
// without bound and handles them after answers that came later, gets only those
// that take back a request.
func (w *replies) hears(msg jsonrpc.Message) bool {
	n, ok := msg.(*jsonrpc.Request)
	if !ok || n.IsCall() || n.Method == cancelled || w.notice == nil {
		return false
	}
	w.notice(n.Method, n.Params)
	return true
}

const cancelled = "notifications/cancelled"

// expect notes who waits for the answer to a message, if anybody does.
func (w *replies) expect(ctx context.Context, msg jsonrpc.Message) {
	request, ok := msg.(*jsonrpc.Request)
	r := replyOf(ctx)
	if !ok || r == nil || !request.IsCall() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == nil {
		w.waiting = map[jsonrpc.ID]*reply{}
	}
	r.id, r.lists = request.ID, request.Method == "tools/list"
	r.asked.Store(false)
	w.waiting[request.ID] = r
}

// take returns who waits for an answer; nil if nobody does.
func (w *replies) take(id jsonrpc.ID) *reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.waiting[id]
	delete(w.waiting, id)
	return r
}

// fill takes the result out of a message that somebody waits for.
func (w *replies) fill(msg jsonrpc.Message) {
	response, ok := msg.(*jsonrpc.Response)
	if !ok {
		_ = lighten(msg) // the SDK says what is missing
		return
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](response.Error); ok {
		wire.Message = cutMessage(wire.Message)
	}
	r := w.take(response.ID)
	switch {
	case r == nil:
	case response.Error != nil:
		r.answered(response.Error)
	case present(response.Result) == nil:
		why := error(&formError{errNoResult})
		r.why.Store(&why)
		response.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why.Error()}
	case wantsInput(response.Result):
		r.asked.Store(true)
	case r.lists && wantsHeaders(response.Result):
		r.raw = response.Result // the SDK makes headers of arguments (protocol 2026-07-28)
	default:
		r.raw, response.Result = response.Result, json.RawMessage(`{}`)
	}
	if err := lighten(response); err != nil && r != nil {
		r.asked.Store(false)
		r.why.Store(&err)
	}
}

// errNoResult is about an answer that JSON-RPC does not allow, and that the SDK takes
// for an empty one.
var errNoResult = errors.New("it has neither a result nor an error")

// forget drops a reply that will not be read.
func (w *replies) forget(r *reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, r.id)
}

// tap is a transport whose connection fills in replies.
type tap struct {
	mcp.Transport
	replies
	limit int            // bytes of one message, where the SDK reads them
	grace time.Duration  // for a session to end
	conn  mcp.Connection // once connected
}

// Connect implements [mcp.Transport]. Over HTTP the replies are filled below
// the SDK's connection, which the session must see itself, to tell it the
// version.
func (t *tap) Connect(ctx context.Context) (conn mcp.Connection, err error) {
	switch inner := t.Transport.(type) {
	case *web:
		conn, err = inner.connect(ctx, &t.replies)
	case *mcp.StreamableClientTransport:
		over := *inner
		over.HTTPClient, over.MaxEventSize = tapClient(inner.HTTPClient, &answers{replies: &t.replies, limit: t.limit, grace: t.grace}), -1
		conn, err = over.Connect(ctx)
	case *mcp.SSEClientTransport:
		over := *inner
		over.HTTPClient, over.MaxEventSize = tapClient(inner.HTTPClient, &answers{replies: &t.replies, limit: t.limit, legacy: true}), -1
		conn, err = connectSSE(ctx, &over)
	default:
		conn, err = t.Transport.Connect(ctx)
		conn = &tappedConn{Connection: conn, replies: &t.replies}
	}
	if err != nil {
		return nil, err
	}
	t.conn = conn
	return conn, nil
}

// tappedConn is a connection that carries messages one by one.
type tappedConn struct {
	mcp.Connection
	replies *replies
}

// Write implements [mcp.Connection].
func (c *tappedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	c.replies.expect(ctx, msg)
	err := c.Connection.Write(ctx, msg)
	if request, ok := msg.(*jsonrpc.Request); ok && request.IsCall() && err == nil {
		replyOf(ctx).leaves()
	}
	return err
}

// Read implements [mcp.Connection].
func (c *tappedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		if !c.replies.hears(msg) {
			c.replies.fill(msg)
			return msg, nil
		}
	}
}

// wantsHeaders reports whether a listing may have tools that want arguments as
// headers.
func wantsHeaders(listing json.RawMessage) bool {
	return bytes.Contains(listing, []byte(`"x-mcp-header"`))
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
