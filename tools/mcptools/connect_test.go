package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

func kill(t *testing.T, c *connection) {
	t.Helper()
	if err := must(os.FindProcess(c.process.PID())).Kill(); err != nil {
		t.Fatal(err)
	}
	<-c.gone
}

// A server that died between two calls is started again by the second call, once for all
// concurrent calls.
func TestServerIsStartedAgain(t *testing.T) {
	t.Parallel()
	s := start(t, fake("answers"), nil)
	tool := list(t, s)["t"]
	equal(t, "before", call(t.Context(), tool, `{}`), `"fine"`)
	kill(t, current(s))
	equal(t, "dead", brief(s),
		`answers failed 2025-11-25, 1 tools, 0 restarts: mcp server "answers" exited (signal: killed); the next use `+
			`starts it again`)

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { equal(t, "after", call(t.Context(), tool, `{}`), `"fine"`) })
	}
	wg.Wait()
	equal(t, "status", brief(s), "answers ready 2025-11-25, 1 tools, 1 restarts")
}

// A server that dies in every call is not started endlessly.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	s := start(t, fake("dies"), nil)
	tool := list(t, s)["t"]
	lost := "unknown: the connection to the tool's server was lost; whether the call took effect is unknown"
	equal(t, "first", call(t.Context(), tool, `{}`), lost)
	<-current(s).gone
	equal(t, "second", call(t.Context(), tool, `{}`), lost)
	<-current(s).gone
	status := s.Status()[0]
	equal(t, "wait", time.Until(status.Retry).Round(time.Second).String(), "1s")
	equal(t, "status", string(status.State), "failed")

	s.servers[0].setRetry(30 * time.Second) // not during the test
	_, err := tool.Handler(t.Context(), json.RawMessage(`{}`))
	var te *tools.ToolError
	if !errors.As(err, &te) || te.Kind != tools.KindUnavailable ||
		!strings.HasPrefix(te.Message, "the tool's server keeps failing and will be tried again in ") {
		t.Errorf("third: %v", err)
	}
	later, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err)
	if !ok || later.RetryAfter() <= 0 || later.RetryAfter() > lastPause {
		t.Errorf("when to try again is not in %v", err)
	}
	equal(t, "tools", fmt.Sprint(len(list(t, s))), "1")
}

// setRetry sets when a failed server may be started again.
func (s *server) setRetry(in time.Duration) {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	s.health.retry = time.Now().Add(in)
}

func TestPause(t *testing.T) {
	t.Parallel()
	var waits []string
	for _, n := range []int{0, 1, 2, 3, 6, 7, 8, 1000} {
		waits = append(waits, pause(n).String())
	}
	equal(t, "waits", strings.Join(waits, " "), "0s 1s 2s 4s 32s 1m0s 1m0s 1m0s")
}

func TestResponseEndsThePauses(t *testing.T) {
	t.Parallel()
	s := start(t, fake("answers"), nil)
	tool := list(t, s)["t"]
	for range 3 {
		kill(t, current(s))
		equal(t, "after", call(t.Context(), tool, `{}`), `"fine"`)
	}
}

// A server that could not be started is tried again later.
func TestFailedStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := fake("answers")
	late := ServerConfig{Name: "late", Command: filepath.Join(dir, "server"), Args: good.Args, Env: good.Env}
	s, err := Start(t.Context(), &Config{Servers: []ServerConfig{good, late}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.servers[1].setRetry(time.Hour)
	if err := os.Symlink(good.Command, late.Command); err != nil {
		t.Fatal(err)
	}
	equal(t, "at once", fmt.Sprint(len(list(t, s))), "1")
	s.servers[1].setRetry(0) // a second later
	all, err := s.Tools(t.Context())
	equal(t, "later", fmt.Sprint(len(all), err), "2 <nil>")
}

// A caller's deadline bounds its waiting, but not the start that others wait for.
func TestStartOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	config := fake("slow")
	flag := filepath.Join(t.TempDir(), "flag")
	config.Env = map[string]string{"FLAG": flag}
	s := unstarted(t, config, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Tools(ctx)
	equal(t, "impatient", fmt.Sprint(err), "mcp servers: listing tools: context deadline exceeded")
	write(t, flag, "")
	equal(t, "patient", fmt.Sprint(len(list(t, s))), "1")
	equal(t, "status", brief(s), "slow ready 2025-11-25, 1 tools, 0 restarts")
}

func TestCloseWhileStarting(t *testing.T) {
	leaks(t)
	s := unstarted(t, fake("silent"), &Options{Grace: 50 * time.Millisecond})
	listed := make(chan error)
	go func() {
		_, err := s.Tools(context.Background())
		listed <- err
	}()
	h := &s.servers[0].health
	started := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.process != nil
	}
	for !started() {
		time.Sleep(time.Millisecond)
	}
	equal(t, "closing", fmt.Sprint(s.Close()), "<nil>")
	equal(t, "listing", fmt.Sprint(<-listed), "<nil>")
	equal(t, "state", string(s.Status()[0].State), "closed")
}

// A listing during which the server dies is repeated once.
func TestServerDiesWhileListing(t *testing.T) {
	t.Parallel()
	config := fake("dies-once-listing")
	config.Env = map[string]string{"FLAG": filepath.Join(t.TempDir(), "flag")}
	s := start(t, config, nil)
	equal(t, "tools", fmt.Sprint(len(list(t, s))), "1")
	equal(t, "status", brief(s), "dies-once-listing ready 2025-11-25, 1 tools, 1 restarts")

	always := start(t, fake("dies-listing"), nil)
	equal(t, "tools", fmt.Sprint(len(list(t, always))), "0")
	<-current(always).gone
	equal(t, "status", brief(always),
		`dies-listing failed 2025-11-25, 0 tools, 1 restarts: mcp server "dies-listing" exited (exit status 4); the `+
			`next use starts it again`)
}

// If a server crashes, the processes that it started are killed too.
func TestCrashEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	s := start(t, fake("stubborn"), &Options{Grace: 50 * time.Millisecond})
	var pids []int
	data(t, list(t, s)["t"], &pids)
	kill(t, current(s))
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d of %v is still running", pid, pids)
		}
	}
}

// greeter is an HTTP server with one tool, and counts its calls. Its open sessions end with the
// test.
func greeter(t *testing.T, calls *atomic.Int32) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "greet", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			calls.Add(1)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hello"}}}, nil
		})
	t.Cleanup(func() {
		for session := range server.Sessions() {
			session.Close()
		}
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

// A restarted HTTP server does not know the session: the call that finds out is made once, over
// a new session.
func TestLostHTTPSession(t *testing.T) {
	t.Parallel()
	var handler atomic.Pointer[http.Handler]
	var calls atomic.Int32
	restart := func() {
		h := greeter(t, &calls)
		handler.Store(&h)
	}
	restart()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		(*handler.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	s := start(t, ServerConfig{Name: "web", URL: web.URL}, nil)
	tool := list(t, s)["greet"]
	equal(t, "before", call(t.Context(), tool, `{}`), `"hello"`)
	restart()
	equal(t, "after", call(t.Context(), tool, `{}`), `"hello"`)
	equal(t, "calls", fmt.Sprint(calls.Load()), "2")
	equal(t, "restarts", fmt.Sprint(s.Status()[0].Restarts), "1")
	restart()
	equal(t, "listing", fmt.Sprint(len(list(t, s))), "1")
	equal(t, "restarts", fmt.Sprint(s.Status()[0].Restarts), "2")
}

// A stream that has ended cannot be connected again.
func TestStreamCannotReconnect(t *testing.T) {
	t.Parallel()
	s := servePipe(t, nil, talker(func(m wireMessage, say func(string)) {
		if m.Method == "tools/call" {
			say("this ends an IOTransport")
		}
	}).run)
	tool := list(t, s)["t"]
	equal(t, "call", call(t.Context(), tool, `{}`),
		"unknown: the response cannot be read; whether the call took effect is unknown")
	<-current(s).gone
	equal(t, "next", call(t.Context(), tool, `{}`), "unavailable: the tool's server is not running; the call was not made")
	equal(t, "status", brief(s),
		`s failed 2025-11-25, 1 tools, 0 restarts: mcp server "s" closed the connection; call Connect again`)
}

// overHTTP connects to an SDK server under the name "web".
func overHTTP(t *testing.T, server *mcp.Server, o *Options) *Servers {
	t.Helper()
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(web.Close)
	return start(t, ServerConfig{Name: "web", URL: web.URL}, o)
}

// Only failed starts are counted as such, and each error names the server once.
func TestFailedStartsAreCounted(t *testing.T) {
	t.Parallel()
	good := fake("answers")
	config := ServerConfig{Name: "late", Command: filepath.Join(t.TempDir(), "server"), Args: good.Args, Env: good.Env}
	if err := os.Symlink(good.Command, config.Command); err != nil {
		t.Fatal(err)
	}
	s := start(t, config, nil)
	tool := list(t, s)["t"]
	if err := os.Remove(config.Command); err != nil {
		t.Fatal(err)
	}
	kill(t, current(s))
	_, err := tool.Handler(t.Context(), nil)
	cause := errors.Unwrap(err).Error()
	if strings.Count(cause, "mcp server") != 1 || !strings.HasPrefix(cause, `mcp server "late": tool "t": `) {
		t.Errorf("cause: %s", cause)
	}
	s.servers[0].setRetry(time.Hour)
	_, err = tool.Handler(t.Context(), nil)
	cause = errors.Unwrap(err).Error()
	if strings.Count(cause, "mcp server") != 1 || !strings.Contains(cause, "(failed starts in a row: 1)") {
		t.Errorf("cause: %s", cause)
	}
}

// A program that echoes its input is not an MCP server.
func TestEchoIsNotAServer(t *testing.T) {
	t.Parallel()
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip(err)
	}
	equal(t, "error", fails(t, ServerConfig{Command: cat}, nil),
		`mcp server "s": handshake: calling "initialize": method not found: "initialize"; it does not answer like an `+
			`MCP server; check that its command starts one on stdio`)
}
