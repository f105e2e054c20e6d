package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bounding returns the transport with a bound on what the server may ask, since
// the SDK handles all requests at once. Over HTTP the SDK must see its own
// connection, and the bound is in [answers].
func bounding(c *connection, t mcp.Transport) mcp.Transport {
	switch t.(type) {
	case *web, *mcp.StreamableClientTransport, *mcp.SSEClientTransport:
		return t
	default:
		return &boundedTransport{Transport: t, c: c}
	}
}

type boundedTransport struct {
	mcp.Transport
	c *connection
}

// Connect implements [mcp.Transport].
func (t *boundedTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &bounded{Connection: conn, c: t.c}, nil
}

// bounded is a connection over which a server may ask so much at once.
type bounded struct {
	mcp.Connection
	c    *connection
	open openRequests
}

// maxOpen is how many requests of a server may wait for their answers at once.
const maxOpen = 64

// errFlood ends a connection.
var errFlood = fmt.Errorf("made more than %d requests at once, and its connection was ended", maxOpen)

// Read implements [mcp.Connection].
func (b *bounded) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := b.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		request, ok := msg.(*jsonrpc.Request)
		switch {
		case ok && request.IsCall() && !b.open.opened(request.ID):
			b.c.blame(errFlood)
			go b.Connection.Close() // answers that it does not read would hold up the end
			return nil, errFlood
		case ok && request.Method == cancelled && !b.open.withdrawn(request.Params):
		default:
			return msg, nil
		}
	}
}

// Write implements [mcp.Connection].
func (b *bounded) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := b.Connection.Write(ctx, msg) // until then it counts: not all servers read
	if response, ok := msg.(*jsonrpc.Response); ok {
		b.open.answered(response.ID)
	}
	return err
}

// openRequests are a server's requests that wait for their answers.
type openRequests struct {
	mu  sync.Mutex
	ids map[jsonrpc.ID]bool // false if taken back
}

// opened notes a request and reports whether that is not one too many.
func (o *openRequests) opened(id jsonrpc.ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ids == nil {
		o.ids = map[jsonrpc.ID]bool{}
	}
	if _, open := o.ids[id]; !open && len(o.ids) == maxOpen {
		return false
	}
	o.ids[id] = true
	return true
}

func (o *openRequests) answered(id jsonrpc.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.ids, id)
}

// withdrawn reports whether the server takes back a request of its own, for the
// first time.
func (o *openRequests) withdrawn(params json.RawMessage) bool {
	var raw json.RawMessage
	if decodeExactly(params, field{"requestId", &raw}) != nil {
		return false
	}
	id, err := messageID(raw)
	if err != nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	open := o.ids[id]
	if open {
		o.ids[id] = false
	}
	return open
}

// admits reports whether the SDK is to see a message: not a request too many,
// nor the end of one that it does not know.
func (o *openRequests) admits(msg jsonrpc.Message) bool {
	request, ok := msg.(*jsonrpc.Request)
	switch {
	case ok && request.IsCall():
		return o.opened(request.ID)
	case ok && request.Method == cancelled:
		return o.withdrawn(request.Params)
	}
	return true
}
