package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/foreign"
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
		repaired := foreign.Repair(output)
		for _, line := range repaired.Dropped() {
			s.warn("tool %q: output schema: %s; that is not checked", name, line)
		}
		compiled, err := repaired.Compile()
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
	raw, err := r.send(ctx, args)
	if err != nil {
		return nil, err
	}
	return r.result(raw)
}

// send makes the call. If it did not reach the server, which has ended since it
// was last used, that is started again, once.
func (r *remote) send(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	err := ctx.Err()
	if err != nil { // select would make the call all the same, now and then
		return nil, r.unavailable(ctx, err)
	}
	for range 2 {
		var c *connection
		if c, err = r.server.live(ctx); err != nil {
			return nil, r.unavailable(ctx, err)
		}
		if err = c.compare(ctx); isLost(err) && ctx.Err() == nil {
			continue
		} else if err != nil {
			return nil, r.unavailable(ctx, err)
		}
		if err = r.refusal(); err != nil {
			return nil, err
		}
		if err = ctx.Err(); err != nil { // while it was waited
			return nil, r.unavailable(ctx, err)
		}
		var raw json.RawMessage
		if raw, err = r.over(ctx, c, args); err == nil {
			return raw, nil
		}
		if !isUnsent(err) || ctx.Err() != nil {
			return nil, r.failure(ctx, c, err)
		}
		c.drop(err)
	}
	return nil, r.unavailable(ctx, err)
}

// over makes the call over one connection.
func (r *remote) over(ctx context.Context, c *connection, args json.RawMessage) (json.RawMessage, error) {
	params := &mcp.CallToolParams{Meta: mcp.Meta{}, Name: r.name, Arguments: args}
	if r.server.o.OnProgress != nil {
		token, forget := r.server.notices.expect(ctx, r.name)
		defer forget()
		params.SetProgressToken(token)
	}
	if r.server.o.OnLog != nil && c.modern() {
		params.Meta[mcp.MetaKeyLogLevel] = r.server.o.LogLevel
	}
	raw, err := c.request(ctx, func(ctx context.Context) (any, error) { return c.session.CallTool(ctx, params) })
	var wire *jsonrpc.Error
	if err == nil || errors.As(err, &wire) {
		c.asks.answered()
		r.server.health.worked()
	}
	return raw, err
}

// unavailable is the failure of a call that was not made.
func (r *remote) unavailable(ctx context.Context, err error) error {
	te := &tools.ToolError{Kind: tools.KindUnavailable, Message: "the tool's server is not running; nothing was done"}
	var early *waitError
	var unlisted *relistError
	var web *webError
	switch {
	case errors.As(err, &unlisted) && ctx.Err() == nil:
		te.Message = "whether the tool has changed cannot be told, since its server does not list its tools; nothing was done"
	case errors.As(err, &early):
		te.Message = fmt.Sprintf("the tool's server keeps failing and is tried again in %v; nothing was done", early.left.Round(time.Second/10))
	case ctx.Err() != nil:
		te.Message = "the tool's server was not ready in time; nothing was done"
	case errors.As(err, &web): // to connecting again: the call was not sent
		what, _, _ := strings.Cut(web.message, "; ")
		te.Message = what + "; nothing was done"
	case errors.Is(err, mcp.ErrSessionMissing):
		te.Message = "the tool's server refused the request (404 Not Found: it does not know the session that it gave); nothing was done"
	}
	return te.WithCause(r.named(err))
}

// named puts the names of the server and the tool before an error.
func (r *remote) named(err error) error {
	return &namedError{fmt.Sprintf("mcp server %q: ", r.server.name), fmt.Sprintf("tool %q: ", r.name), err}
}

// failure sorts the error of a request by what is known to have happened.
func (r *remote) failure(ctx context.Context, c *connection, err error) error {
	var wire *jsonrpc.Error
	var size *sizeError
	var form *formError
	var refused *refusedError
	var web *webError
	te := &tools.ToolError{}
	switch {
	case errors.As(err, &web):
		te, err = web.toolError(), web
	case errors.As(err, &refused):
		te.Kind, te.Message = tools.KindFailed, "the tool asked for more than its arguments, and nobody answers such questions here"
	case errors.As(err, &size):
		te = tooLarge(size)
	case errors.As(err, &form):
		te.Kind, te.Message = tools.KindInvalidResult, "the call was made, but its answer cannot be read"
	case errors.As(err, &wire):
		te.Kind, te.Message, te.Data = rpcKind(wire.Code, wire.Message), wire.Message, r.some(present(wire.Data))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		te.Kind, te.Message = tools.KindTimeout, "no answer in time; whether it took effect is unknown"
	case ctx.Err() != nil:
		te.Kind, te.Message = tools.KindCancelled, "cancelled; whether it took effect is unknown"
	case isLost(err):
		te.Kind, te.Message = tools.KindUnknown, "the connection to the tool's server was lost; whether it took effect is unknown"
		err = errors.Join(err, c.lost())
	default:
		te.Kind, te.Message = tools.KindUnknown, "the answer could not be read; whether it took effect is unknown"
	}
	return te.WithCause(r.named(err))
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
