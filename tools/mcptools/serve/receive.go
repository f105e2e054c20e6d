package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// receiver stands between clients and the servers of one [Run]: it keeps from a
// principal the tools that are not his, and from everybody the panics of others.
type receiver struct {
	log *slog.Logger
	mu  sync.Mutex
	all map[weak.Pointer[mcp.Server]]bool
}

func newReceiver(log *slog.Logger) *receiver {
	return &receiver{log: log, all: map[weak.Pointer[mcp.Server]]bool{}}
}

// before has what a server receives come here first: once, though the server may be
// served again at every request. One that nobody uses any more is forgotten.
func (v *receiver) before(server *mcp.Server) *mcp.Server {
	if server == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if key := weak.Make(server); !v.all[key] {
		v.all[key] = true
		runtime.AddCleanup(server, v.forget, key)
		server.AddReceivingMiddleware(v.receive)
	}
	return server
}

func (v *receiver) forget(key weak.Pointer[mcp.Server]) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.all, key)
}

func (v *receiver) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		if one := callOf(ctx); one != nil {
			defer one.leave()
		}
		defer func() {
			if value := recover(); value != nil {
				v.log.Error("a handler panicked", "method", method, "panic", value, "stack", string(debug.Stack()))
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

// receive has tools that are not for the principal be as if there were none.
func (p Principal) receive(ctx context.Context, method string, r mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	if p.unlimited() {
		return next(ctx, method, r)
	}
	switch r := r.(type) {
	case *mcp.CallToolRequest:
		if !p.Allows(r.Params.Name) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", r.Params.Name)} // the SDK's words
		}
	case *mcp.ListToolsRequest:
		return p.list(ctx, r, next)
	}
	return next(ctx, method, r)
}

// list is all that the principal may use, on one page: a cursor is made of the name
// of a tool, which may not be his, and a page that has none of his would look like
// the end to many clients.
func (p Principal) list(ctx context.Context, r *mcp.ListToolsRequest, next mcp.MethodHandler) (mcp.Result, error) {
	tools := []*mcp.Tool{} // no null in JSON
	for seen := map[string]bool{}; ; {
		result, err := next(ctx, "tools/list", r)
		if err != nil {
			return nil, err
		}
		page, ok := result.(*mcp.ListToolsResult)
		if !ok {
			return nil, errors.New("the server listed no tools")
		}
		for _, t := range page.Tools {
			if p.Allows(t.Name) {
				tools = append(tools, t)
			}
		}
		if page.NextCursor == "" || seen[page.NextCursor] {
			whole := *page // it may be the server's
			whole.Tools, whole.NextCursor, whole.CacheScope = tools, "", "private"
			return &whole, nil
		}
		seen[page.NextCursor] = true
		r = after(r, page.NextCursor)
	}
}

// after asks for the next page.
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
