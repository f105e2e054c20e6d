package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/queue"
)

// middleware is part of every server that one [Run] or [Handler] serves. It hides the tools that a principal may not
// use, recovers from panics, and can cancel all calls. It acts only on requests that were marked, because the host may
// serve the same server in other ways.
type middleware struct {
	log       *slog.Logger
	meters    *meters
	stop      context.Context // its end cancels the running calls
	end       context.CancelFunc
	mu        sync.Mutex
	installed map[weak.Pointer[mcp.Server]]bool
}

func newMiddleware(log *slog.Logger, meters *meters) *middleware {
	m := &middleware{log: log, meters: meters, installed: map[weak.Pointer[mcp.Server]]bool{}}
	m.stop, m.end = context.WithCancel(context.Background())
	return m
}

type markKey struct{}

// mark marks a request's context, so that m handles the request.
func (m *middleware) mark(ctx context.Context) context.Context {
	return context.WithValue(ctx, markKey{}, m)
}

// install adds the middleware to a server, unless an earlier request has added it. It does not keep the
// server in memory.
func (m *middleware) install(server *mcp.Server) *mcp.Server {
	if server == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if key := weak.Make(server); !m.installed[key] {
		m.installed[key] = true
		runtime.AddCleanup(server, m.forget, key)
		server.AddReceivingMiddleware(m.receive)
	}
	return server
}

func (m *middleware) forget(key weak.Pointer[mcp.Server]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.installed, key)
}

func (m *middleware) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		if ctx.Value(markKey{}) != m {
			return next(ctx, method, r)
		}
		ctx, done := queue.WithStop(ctx, m.stop)
		defer done()
		if one := callOf(ctx); one != nil {
			defer one.leave()
		}
		began := time.Now()
		ctx, span := m.meters.span(ctx, method, r)
		defer func() { m.meters.operation(ctx, span, began, method, r, result, err) }()
		defer func() {
			if value := recover(); value != nil {
				m.log.Error("a handler panicked", "method", method, "panic", value, "stack", string(debug.Stack()))
				result, err = nil, errBroken
			}
		}()
		if asked, ok := r.(*mcp.ServerRequest[*mcp.DiscoverParams]); ok {
			return probe(ctx, method, asked, next)
		}
		p, _ := PrincipalOf(ctx)
		return p.receive(ctx, method, r, next)
	}
}

var errBroken = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}

// receive hides the tools that the principal may not use, in lists and in calls.
func (p Principal) receive(
	ctx context.Context, method string, r mcp.Request, next mcp.MethodHandler,
) (mcp.Result, error) {
	if p.unlimited() {
		return next(ctx, method, r)
	}
	switch r := r.(type) {
	case *mcp.CallToolRequest:
		if !p.Allows(r.Params.Name) {
			message := fmt.Sprintf("unknown tool %q", r.Params.Name) // the SDK's message
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
		}
	case *mcp.ListToolsRequest:
		return p.list(ctx, r, next)
	}
	return next(ctx, method, r)
}

// list returns all of the principal's tools on one page. Several pages would not work: a cursor could reveal a hidden
// tool's name, and many clients take an empty page for the end of the list.
func (p Principal) list(ctx context.Context, r *mcp.ListToolsRequest, next mcp.MethodHandler) (mcp.Result, error) {
	tools := []*mcp.Tool{} // not null in JSON
	for seen := map[string]bool{}; ; {
		result, err := next(ctx, "tools/list", r)
		if err != nil {
			return nil, err
		}
		page, ok := result.(*mcp.ListToolsResult)
		if !ok {
			return nil, errors.New("tools/list returned no tool list")
		}
		for _, t := range page.Tools {
			if p.Allows(t.Name) {
				tools = append(tools, t)
			}
		}
		if page.NextCursor == "" || seen[page.NextCursor] {
			whole := *page // a copy, because the page may belong to the server
			whole.Tools, whole.NextCursor, whole.CacheScope = tools, "", "private"
			return &whole, nil
		}
		seen[page.NextCursor] = true
		r = after(r, page.NextCursor)
	}
}

// after returns a request for the next page.
func after(r *mcp.ListToolsRequest, cursor string) *mcp.ListToolsRequest {
	var params mcp.ListToolsParams
	if r.Params != nil {
		params = *r.Params
	}
	params.Cursor = cursor
	more := *r
	more.Params = &params
	return &more
}
