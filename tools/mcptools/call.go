package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// remote is one tool of one server.
type remote struct {
	server *server
	name   string
	typed  bool // there is an output schema

	// output is the output schema, compiled when the tool is first called; nil
	// if there is none that can be used.
	output func() *schema.Schema
}

func newRemote(s *server, name string, output json.RawMessage) *remote {
	r := &remote{server: s, name: name, typed: output != nil}
	r.output = sync.OnceValue(func() *schema.Schema {
		if !r.typed {
			return nil
		}
		loose := schema.Loosely(output)
		for _, line := range loose.Dropped() {
			s.warn("tool %q: output schema: %s; that is not checked", name, line)
		}
		compiled, err := loose.Schema()
		if err != nil {
			s.warn("results of tool %q are not checked: output schema: %v", name, err)
		}
		return compiled
	})
	return r
}

// call is a [tools.Handler].
func (r *remote) call(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	if timeout := r.server.config.Timeout; timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	raw, err := r.server.request(ctx, func(ctx context.Context) (any, error) {
		return r.server.session.CallTool(ctx, &mcp.CallToolParams{Name: r.name, Arguments: args})
	})
	if err != nil {
		return nil, r.failure(ctx, err)
	}
	return r.result(raw)
}

// failure sorts the error of a request by what is known to have happened.
func (r *remote) failure(ctx context.Context, err error) error {
	var wire *jsonrpc.Error
	var size *sizeError
	var form *formError
	var refused *refusedError
	te := &tools.ToolError{}
	switch {
	case errors.As(err, &refused):
		te.Kind, te.Message = tools.KindFailed, "the tool asked for more than its arguments, and nobody answers such questions here"
	case errors.As(err, &size):
		te.Kind, te.Message = tools.KindInvalidResult, "the call was made, but "+size.Error()+"; ask for less"
	case errors.As(err, &form):
		te.Kind, te.Message = tools.KindInvalidResult, "the call was made, but its answer cannot be read"
	case errors.As(err, &wire):
		te.Kind, te.Message, te.Data = rpcKind(wire.Code, wire.Message), wire.Message, present(wire.Data)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		te.Kind, te.Message = tools.KindTimeout, "no answer in time; whether it took effect is unknown"
	case ctx.Err() != nil:
		te.Kind, te.Message = tools.KindCancelled, "cancelled; whether it took effect is unknown"
	case errors.Is(err, mcp.ErrConnectionClosed):
		te.Kind, te.Message = tools.KindUnavailable, "the tool's server is not running; nothing was done"
		err = r.server.lost()
	case isLost(err):
		te.Kind, te.Message = tools.KindUnknown, "the connection to the tool's server was lost; whether it took effect is unknown"
		err = errors.Join(err, r.server.lost())
	default:
		te.Kind, te.Message = tools.KindUnknown, "the answer could not be read; whether it took effect is unknown"
	}
	return te.WithCause(fmt.Errorf("mcp server %q: tool %q: %w", r.server.name, r.name, err))
}

// rpcKind sorts JSON-RPC errors. Servers report a tool that they do not have
// as a method that they do not have, or as an argument that is wrong.
func rpcKind(code int64, message string) string {
	message = strings.ToLower(message)
	unknown := strings.Contains(message, "unknown tool") ||
		strings.HasPrefix(message, "tool ") && strings.HasSuffix(message, " not found")
	switch {
	case code == jsonrpc.CodeMethodNotFound, code == jsonrpc.CodeInvalidParams && unknown:
		return tools.KindUnknownTool
	case code == jsonrpc.CodeInvalidParams:
		return tools.KindInvalidArguments
	default:
		return tools.KindFailed
	}
}
