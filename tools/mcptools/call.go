package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
	"github.com/writ-go/writ/tools/mcptools/internal/web"
	"go.opentelemetry.io/otel/propagation"
)

// remote is one tool on one server.
type remote struct {
	server *server
	name   string
	typed  bool // the tool has an output schema

	// output compiles the output schema on first use. It returns nil if the tool has no valid output schema.
	output func() *schema.Schema
}

func newRemote(s *server, name string, output json.RawMessage) *remote {
	r := &remote{server: s, name: name, typed: output != nil}
	r.output = sync.OnceValue(func() *schema.Schema {
		if !r.typed {
			return nil
		}
		compiled, err := schema.Compile(output)
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

// send makes the call. If the server has ended and the call did not reach it, send starts the server
// again and repeats the call once.
func (r *remote) send(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	err := ctx.Err()
	if err != nil { // do not start the server for a canceled call
		return nil, r.unavailable(ctx, err)
	}
	for range 2 {
		var c *connection
		if c, err = r.server.live(ctx); err != nil {
			return nil, r.unavailable(ctx, err)
		}
		if err = r.refusal(); err != nil {
			return nil, err
		}
		if err = ctx.Err(); err != nil {
			return nil, r.unavailable(ctx, err)
		}
		var raw json.RawMessage
		if raw, err = r.sendOver(ctx, c, args); err == nil {
			return raw, nil
		}
		if !isUnsent(err) || ctx.Err() != nil {
			return nil, r.failure(ctx, c, err)
		}
		c.drop(err)
	}
	return nil, r.unavailable(ctx, err)
}

// effectKey is the key of a call's effect ID in the _meta of the request.
const effectKey = "io.github.writ-go/effect-id"

// sendOver makes the call over one connection.
func (r *remote) sendOver(ctx context.Context, c *connection, args json.RawMessage) (json.RawMessage, error) {
	params := &mcp.CallToolParams{Meta: mcp.Meta{}, Name: r.name, Arguments: args}
	if report, _ := ctx.Value(progressKey{}).(func(Progress)); report != nil {
		token, forget := r.server.notifications.expectProgress(r.name, report)
		defer forget()
		params.SetProgressToken(token)
	}
	id, tool := effect.Of(ctx), r.server.o.Secrets.Text(r.name)
	if id.Entry != "" && id.Server == r.server.name && id.Tool == tool {
		params.Meta[effectKey] = id.String()
	}
	trace := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, trace)
	for key, value := range trace {
		params.Meta[key] = value
	}
	var call message.Call
	raw, err := c.request(ctx, &call, func(ctx context.Context) (any, error) { return c.session.CallTool(ctx, params) })
	wire, answered := errors.AsType[*jsonrpc.Error](err)
	if err == nil || answered {
		c.questions.Store(0)
		r.server.health.worked()
	}
	if report := effect.ReportOf(ctx); report != nil && call.ID.IsValid() {
		request := effect.Request{Server: r.server.name, Tool: tool, Protocol: c.version(), Pipe: c.process != nil}
		request.ID = fmt.Sprint(call.ID.Raw())
		request.URL, _ = web.ParseURL(r.server.config.URL)
		if answered {
			request.Code = fmt.Sprint(wire.Code)
		}
		report(request)
	}
	return raw, err
}

// Suffixes of messages for programs.
const (
	notMade       = "; the call was not made"
	effectUnknown = "; whether the call took effect is unknown"
)

// unavailable returns the error for a call that was not made.
func (r *remote) unavailable(ctx context.Context, err error) error {
	text := "the tool's server is not running" + notMade
	var early *pauseError
	var unchecked *recheckError
	var failed *web.Error
	switch {
	case errors.As(err, &unchecked) && ctx.Err() == nil:
		text = "the tool's server failed to list its tools, so they may have changed" + notMade
	case errors.As(err, &early):
		left := early.left.Round(time.Second / 10)
		text = fmt.Sprintf("the tool's server keeps failing and will be tried again in %v", left) + notMade
	case ctx.Err() != nil:
		text = "the tool's server was not ready in time" + notMade
	case errors.As(err, &failed): // while connecting again
		text = failed.Unavailable()
	case errors.Is(err, mcp.ErrSessionMissing):
		text = "the tool's server rejects the sessions that it creates" + notMade
	}
	te := &tools.ToolError{Kind: tools.KindUnavailable, Message: text}
	return te.WithCause(r.named(err))
}

// named puts the server's and the tool's names before an error.
func (r *remote) named(err error) error {
	return &namedError{fmt.Sprintf("mcp server %q: ", r.server.name), fmt.Sprintf("tool %q: ", r.name), err}
}

// failure returns the error for a failed request. Its kind says what is known about the effect.
func (r *remote) failure(ctx context.Context, c *connection, err error) error {
	var wire *jsonrpc.Error
	var size *message.SizeError
	var format *message.FormatError
	var failed *web.Error
	te := &tools.ToolError{}
	switch {
	case errors.As(err, &failed):
		te, err = failed.ToolError(), failed
	case errors.Is(err, errUnanswered):
		te.Kind, te.Message = tools.KindFailed, "the tool asked its client a question, which cannot be answered here"
	case errors.As(err, &size):
		te = tooLarge(size)
	case errors.As(err, &format):
		te.Kind, te.Message = tools.KindInvalidResult, "the call was made, but its response cannot be read"
	case errors.As(err, &wire):
		te = r.reported(wire.Message, jsonscan.Present(wire.Data))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		te.Kind, te.Message = tools.KindTimeout, "no answer in time"+effectUnknown
	case ctx.Err() != nil:
		te.Kind, te.Message = tools.KindCancelled, "canceled"+effectUnknown
	case isLost(err):
		te.Kind, te.Message = tools.KindUnknown, "the connection to the tool's server was lost"+effectUnknown
		err = errors.Join(err, c.lost())
	default:
		te.Kind, te.Message = tools.KindUnknown, "the response cannot be read"+effectUnknown
	}
	return te.WithCause(r.named(err))
}
