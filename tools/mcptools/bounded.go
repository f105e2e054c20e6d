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
// connection, and what is asked there comes with a call or the one other stream.
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
	return &bounded{Connection: conn, c: t.c, open: map[jsonrpc.ID]bool{}}, nil
}

// bounded is a connection over which a server may ask so much at once.
type bounded struct {
	mcp.Connection
	c *connection

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // the server's requests without an answer; false if taken back
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
		case ok && request.IsCall() && !b.opened(request.ID):
			b.c.blame(errFlood)
			go b.Connection.Close() // answers that it does not read would hold up the end
			return nil, errFlood
		case ok && request.Method == cancelled && !b.withdrawn(request.Params):
		default:
			return msg, nil
		}
	}
}

// Write implements [mcp.Connection].
func (b *bounded) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := b.Connection.Write(ctx, msg) // until then it counts: not all servers read
	if response, ok := msg.(*jsonrpc.Response); ok {
		b.mu.Lock()
		delete(b.open, response.ID)
		b.mu.Unlock()
	}
	return err
}

// opened notes a request and reports whether that is not one too many.
func (b *bounded) opened(id jsonrpc.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[id] = true
	return len(b.open) <= maxOpen
}

// withdrawn reports whether the server takes back a request of its own, for the
// first time.
func (b *bounded) withdrawn(params json.RawMessage) bool {
	var p struct{ RequestID any }
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	open := b.open[id]
	if open {
		b.open[id] = false
	}
	return open
}
