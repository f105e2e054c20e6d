package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// hearing returns the transport with an ear on what the server says unasked. The
// SDK queues all of that without bound, and handles requests all at once. It is
// left alone over HTTP, where the SDK must see its own connection; there its
// handlers hear the same.
func hearing(c *connection, t mcp.Transport) mcp.Transport {
	switch t.(type) {
	case *web, *mcp.StreamableClientTransport, *mcp.SSEClientTransport:
		return t
	default:
		return &hearingTransport{Transport: t, c: c}
	}
}

type hearingTransport struct {
	mcp.Transport
	c *connection
}

// Connect implements [mcp.Transport].
func (t *hearingTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &heard{Connection: conn, c: t.c, open: map[jsonrpc.ID]bool{}}, nil
}

// heard is a connection whose notifications go to the host and not to the SDK.
type heard struct {
	mcp.Connection
	c *connection

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // the server's requests without an answer
}

// maxOpen is how many requests of a server may wait for their answers at once.
const maxOpen = 64

// errFlood ends a connection.
var errFlood = fmt.Errorf("made more than %d requests at once, and its connection was ended", maxOpen)

// Read implements [mcp.Connection].
func (h *heard) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := h.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		request, ok := msg.(*jsonrpc.Request)
		switch {
		case !ok:
			return msg, nil
		case request.IsCall() && !h.opened(request.ID):
			h.c.blame(errFlood)
			return nil, errFlood
		case request.IsCall() || h.withdraws(request):
			return msg, nil
		}
		h.c.server.notices.note(request.Method, request.Params)
	}
}

// Write implements [mcp.Connection].
func (h *heard) Write(ctx context.Context, msg jsonrpc.Message) error {
	if response, ok := msg.(*jsonrpc.Response); ok {
		h.mu.Lock()
		delete(h.open, response.ID)
		h.mu.Unlock()
	}
	return h.Connection.Write(ctx, msg)
}

// opened notes a request and reports whether that is not one too many.
func (h *heard) opened(id jsonrpc.ID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[id] = true
	return len(h.open) <= maxOpen
}

// withdraws reports whether the server takes back a request of its own, which
// the SDK has to know; each can be taken back once.
func (h *heard) withdraws(msg *jsonrpc.Request) bool {
	if msg.Method != "notifications/cancelled" {
		return false
	}
	var p struct{ RequestID any }
	if json.Unmarshal(msg.Params, &p) != nil {
		return false
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	open := h.open[id]
	if open {
		h.open[id] = false
	}
	return open
}
