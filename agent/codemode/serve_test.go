package codemode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/internal/leaktest"
	"github.com/writ-go/writ/internal/testserver"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/typescript"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// TestMain lets the test binary serve as the files server that programs use.
func TestMain(m *testing.M) {
	testserver.Main()
	if err := npmInPath(); err != nil {
		panic(err)
	}
	os.Exit(leaktest.Run(func() int {
		code := m.Run()
		if c, err := compiler(); err == nil {
			c.Close()
		}
		return code
	}))
}

// npmInPath makes sure that there is an npm, for tests of AllowInstall that do not run it.
func npmInPath() error {
	if _, err := exec.LookPath("npm"); err == nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "npm-")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		return err
	}
	return os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+dir)
}

// config writes a configuration with a files server, whose folder has two files.
func config(t *testing.T) (path, folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{"a.txt": "3", "b.txt": "4"} {
		write(t, filepath.Join(folder, name), text)
	}
	return configOf(t, map[string]any{"fs": testserver.Entry(folder)}), folder
}

// setup describes the server of a test. Its programs and servers have minutes by default, because the
// machine may be busy.
type setup struct {
	Options
	time, compute time.Duration
	memory        int64 // MiB
	workers       int
	rules         sandbox.Rules
	tokens        string // a file
	auth          *serve.Auth
	stateless     bool
	client        *mcp.ClientOptions
}

// served is the server of a test, with what it has logged.
type served struct {
	*Server
	serving serve.Options
	written *lines
	meters  *meters
}

// as returns a client of the server without a connection.
func (s served) as(p serve.Principal) *client { return &client{app: s.Server, principal: p} }

// compiler is shared by all tests, and has time on a busy machine.
var compiler = sync.OnceValues(func() (*typescript.Compiler, error) {
	return typescript.New(&typescript.Options{Time: 5 * time.Minute})
})

func prepare(t *testing.T, o setup) served {
	t.Helper()
	box, err := sandbox.New(&sandbox.Options{Rules: &o.rules, Workers: o.workers, Limits: sandbox.Limits{
		Time: cmp.Or(o.time, 5*time.Minute), Compute: cmp.Or(o.compute, 5*time.Minute), Calls: 100_000,
		Memory: cmp.Or(o.memory, 256) << 20, Source: 1 << 20,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	s := served{written: &lines{}, meters: &meters{}}
	o.MeterProvider = s.meters
	patient := o.Startup == 0
	o.Sandbox, o.Queue.Running, o.Startup = box, o.workers, cmp.Or(o.Startup, 5*time.Minute)
	o.Logger = slog.New(slog.NewTextHandler(io.MultiWriter(s.written, t.Output()), nil))
	if s.Server, err = open(&o.Options, 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	s.Server.compiler = compiler
	if patient {
		if err := s.catalog.complete(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.serving.Stateless, s.serving.Auth = o.stateless, o.auth
	if o.tokens != "" {
		if s.serving.Auth, err = serve.TokenFile(o.tokens); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// begin serves one client on stdio in this process, and connects to it.
func begin(t *testing.T, o setup) (*mcp.ClientSession, served) {
	t.Helper()
	s := prepare(t, o)
	input, toServer := io.Pipe()
	fromServer, output := io.Pipe()
	s.serving.In, s.serving.Out = input, output
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background(), &s.serving) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o.client).Connect(t.Context(),
		&mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) { // the client reads no last words
			t.Error(err)
		}
	})
	return session, s
}

// web serves many clients over HTTP, and returns a function that connects with a token and a version
// of the protocol.
func web(t *testing.T, o setup) (func(token, version string, o ...*mcp.ClientOptions) *mcp.ClientSession, served) {
	t.Helper()
	s := prepare(t, o)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.serving.Transport, s.serving.Listener = serve.HTTP, listener
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, &s.serving) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(token, version string, o ...*mcp.ClientOptions) *mcp.ClientSession {
		t.Helper()
		return connect(t, "http://"+listener.Addr().String()+"/mcp", token, version, o...)
	}, s
}

// connect connects to the server at a URL.
func connect(t *testing.T, url, token, version string, o ...*mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, append(o, nil)[0])
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// connectTo connects to a server in this process.
func connectTo(t *testing.T, server *mcp.Server) *mcp.ClientSession {
	t.Helper()
	there, here := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// executeCode calls execute_code, which may fail.
func executeCode(t *testing.T, session *mcp.ClientSession, args map[string]any) (e execution) {
	t.Helper()
	text, failed := ask(t, session, "execute_code", args)
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if failed == e.Success {
		t.Errorf("isError is %t and success %t", failed, e.Success)
	}
	return e
}

// wantResult runs a program and compares its result.
func wantResult(t *testing.T, session *mcp.ClientSession, code, want string) {
	t.Helper()
	if e := executeCode(t, session, map[string]any{"code": code}); string(e.Result) != want {
		t.Errorf("%s: got %+v, want %s", code, e, want)
	}
}

// ask calls a tool and returns its structured result, or its text where there is
// none, and whether it is an error.
func ask(t *testing.T, session *mcp.ClientSession, name string, args any) (json.RawMessage, bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if result.StructuredContent == nil {
		return json.RawMessage(result.Content[0].(*mcp.TextContent).Text), result.IsError
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	conforms(t, session, name, text)
	return text, result.IsError
}

// get is ask where an answer is expected.
func get[T any](t *testing.T, session *mcp.ClientSession, name string, args any) T {
	t.Helper()
	text, failed := ask(t, session, name, args)
	if failed {
		t.Fatalf("%s: %s", name, text)
	}
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v in %s", name, err, text)
	}
	return v
}

// listed returns the tools that a client sees.
func listed(t *testing.T, session *mcp.ClientSession) map[string]*mcp.Tool {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*mcp.Tool{}
	for _, tool := range list.Tools {
		all[tool.Name] = tool
	}
	return all
}

// listening returns the options of a client that hears of changes of the tools, and the channel for them.
func listening() (*mcp.ClientOptions, <-chan struct{}) {
	heard := make(chan struct{}, 100)
	return &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { heard <- struct{}{} },
	}, heard
}

// describedExecute is the description of execute_code.
func describedExecute(t *testing.T, session *mcp.ClientSession) string {
	t.Helper()
	return listed(t, session)["execute_code"].Description
}

// conforms compares a result with the schema that the server declares for it.
func conforms(t *testing.T, session *mcp.ClientSession, name string, result json.RawMessage) {
	t.Helper()
	tool := listed(t, session)[name]
	if tool == nil {
		t.Fatalf("there is no tool %s", name)
	}
	text, err := json.Marshal(tool.OutputSchema)
	if err != nil {
		t.Fatal(err)
	}
	output, err := schema.Compile(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if findings := output.Validate(result); len(findings) > 0 {
		t.Errorf("%s: the result is not what the schema says: %s\n%s", name, schema.Summary(findings), result)
	}
}

// newSet returns a set of tools.
func newSet(t *testing.T, sources ...tools.Source) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// behind serves an MCP server over HTTP, and returns a configuration with it and the headers that it is sent.
func behind(t *testing.T, name string, server *mcp.Server, headers map[string]any) (path string) {
	t.Helper()
	site := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(site.Close)
	t.Cleanup(site.CloseClientConnections)
	return configOf(t, map[string]any{name: map[string]any{"url": site.URL, "headers": headers}})
}

// configOf writes a configuration.
func configOf(t *testing.T, servers map[string]any) (path string) {
	t.Helper()
	path, err := testserver.WriteConfig(t.TempDir(), servers)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// write writes a file.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) has(text string) bool { return strings.Contains(l.String(), text) }
