package codemode

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools/mcptools"
)

// reporting is a server whose tool work reports progress many times, and then works until the client has heard of it.
// It returns whether it was asked to report.
func reporting(t *testing.T, l *listener) (url string) {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "reporting", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			token := r.Params.GetProgressToken()
			for i := range 300 {
				if token == nil {
					break
				}
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(i % 7),
					Message: "with t0p-s3cret " + strings.Repeat("x", i*10)})
			}
			if token != nil {
				select {
				case <-l.heard():
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(token != nil)}}}, nil
		})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	return web.URL
}

// listener is a client that keeps the progress of its calls.
type listener struct {
	mu   sync.Mutex
	all  []*mcp.ProgressNotificationParams
	call chan struct{} // closed when a server's report about the call has come
	open bool          // call is not closed
}

// heard returns a channel that is closed when a server's report has come.
func (l *listener) heard() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.call
}

// begin begins another call.
func (l *listener) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.call, l.open = make(chan struct{}), true
}

func (l *listener) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.all = append(l.all, r.Params)
			if strings.Contains(r.Params.Message, "work: ") && l.open {
				close(l.call)
				l.open = false
			}
		}}
}

// TestProgressOfServers has tools that work until the client has heard of their progress. The client hears of it at a
// bounded rate, and only if it asked for progress; what it hears increases, though two calls report at once.
func TestProgressOfServers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := &listener{}
	own := mcptools.Config{Servers: []mcptools.ServerConfig{{Name: "own", URL: reporting(t, l)}}}
	servers, err := mcptools.Start(ctx, &own, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { servers.Close() })
	path := configOf(t, map[string]any{"far": map[string]any{"url": reporting(t, l),
		"headers": map[string]any{"Authorization": "t0p-s3cret"}}})
	const both = `(await Promise.all([far.work({}), own.work({})])).join()`
	session, _ := begin(t, setup{client: l.options(), Options: Options{Config: path, Tools: newSet(t, servers),
		Model: llmtest.New(reply(`submit({answer: ` + both + `})`))}})
	for tool, args := range map[string]map[string]any{"execute_code": {"code": both}, "run_task": {"task": "Work."}} {
		params := &mcp.CallToolParams{Name: tool, Arguments: args}
		params.SetProgressToken(tool)
		l.begin()
		if result, err := session.CallTool(ctx, params); err != nil || result.IsError {
			t.Fatalf("%s: %+v, %v", tool, result, err)
		}
	}
	wantResult(t, session, both, `"false,false"`) // without a progress token, the servers are not asked to report
	l.mu.Lock()
	defer l.mu.Unlock()
	last, reports := map[any]float64{}, map[any]int{}
	for _, p := range l.all {
		if p.Progress <= last[p.ProgressToken] || strings.Contains(p.Message, "s3cret") || len(p.Message) > 600 {
			t.Errorf("after %v: %+v", last[p.ProgressToken], p)
		}
		last[p.ProgressToken] = p.Progress
		if strings.Contains(p.Message, "work: with ") {
			reports[p.ProgressToken]++
		}
	}
	for _, token := range []string{"execute_code", "run_task"} {
		if n := reports[token]; n < 1 || n > 100 {
			t.Errorf("%s: %d of 600 reports were passed on", token, n)
		}
	}
}

// TestProgressOfManyCalls has a program that makes more calls than a client wants to hear of.
func TestProgressOfManyCalls(t *testing.T) {
	t.Parallel()
	l := &listener{}
	session, _ := begin(t, setup{client: l.options(), Options: Options{Tools: numbers(t, "one")}})
	params := &mcp.CallToolParams{Name: "execute_code",
		Arguments: map[string]any{"code": `for (let n = 0; n < 1000; n++) await one({n})`}}
	params.SetProgressToken(7)
	if result, err := session.CallTool(t.Context(), params); err != nil || result.IsError {
		t.Fatalf("%+v, %v", result, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.all); n > 500 {
		t.Errorf("the client got %d notifications", n)
	}
}
