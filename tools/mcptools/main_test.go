package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

// serve runs the script in this process and returns servers connected to it
// under the name "s".
func serve(t testing.TB, s script, o *Options) *Servers {
	t.Helper()
	return servePipe(t, o, s.whole().run)
}

// servePipe is like serve for a server that is a function over its stdin and stdout.
func servePipe(t testing.TB, o *Options, run func(io.Reader, io.Writer)) *Servers {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer theirs.Close()
		run(theirs, theirs)
	}()
	servers, err := Connect(t.Context(), map[string]mcp.Transport{"s": &mcp.IOTransport{Reader: ours, Writer: ours}}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		servers.Close()
		<-done
	})
	return servers
}

// inOrder returns the tools in their order.
func inOrder(t *testing.T, s *Servers) []*tools.Tool {
	t.Helper()
	all, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// list returns the tools by name.
func list(t *testing.T, s *Servers) map[string]*tools.Tool {
	t.Helper()
	named := map[string]*tools.Tool{}
	for _, tool := range inOrder(t, s) {
		named[tool.Name] = tool
	}
	return named
}

// brief returns the status of each server as text.
func brief(s *Servers) string {
	var lines []string
	for _, status := range s.Status() {
		line := fmt.Sprintf("%s %s %s, %d tools, %d restarts", status.Name, status.State, status.ProtocolVersion,
			status.Tools, status.Restarts)
		if status.Err != nil {
			line += ": " + status.Err.Error()
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// current returns the connection of the first server.
func current(s *Servers) *connection {
	srv := s.servers[0]
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.attempt.connection()
}

// call calls a tool and returns the result or error as text.
func call(ctx context.Context, t *tools.Tool, args string) string {
	value, err := t.Handler(ctx, json.RawMessage(args))
	if err == nil {
		return string(value)
	}
	te, ok := err.(*tools.ToolError)
	if !ok {
		return fmt.Sprintf("not a ToolError: %v", err)
	}
	text := te.Kind + ": " + te.Message
	if te.Data != nil {
		text += " " + string(te.Data)
	}
	return text
}

// data calls a tool and decodes the data of its result.
func data(t *testing.T, tool *tools.Tool, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(call(t.Context(), tool, `{}`)), into); err != nil {
		t.Fatal(err)
	}
}

// full reports whether to run the large variants of tests.
var full = os.Getenv("WRIT_TEST_FULL") == "1"

// sample returns n for the large variants of tests, else a smaller number.
func sample(some, n int) int {
	if full {
		return n
	}
	return some
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got: %s\nwant: %s", what, got, want)
	}
}

func equalLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	equal(t, what, strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// marker is the argument that makes the test binary a server.
const marker = "mcptools-test-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == marker {
		full = os.Args[3] == "true"
		processes[os.Args[2]]()
		if os.Getenv("GOCOVERDIR") == "" {
			syscall.Exit(0) // under the race detector, returning takes a second
		}
		return
	}
	os.Exit(run(m))
}

// coverage is the directory for the coverage data of the processes.
var coverage string

func run(m *testing.M) int {
	if testing.CoverMode() != "" {
		dir, err := os.MkdirTemp("", "mcptools")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		coverage = dir
	}
	return m.Run()
}

// fake returns the configuration of a server in the test binary.
func fake(name string) ServerConfig {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	config := ServerConfig{Name: name, Command: exe, Args: []string{marker, name, fmt.Sprint(full)}}
	if coverage != "" {
		config.Env = map[string]string{"GOCOVERDIR": coverage}
	}
	return config
}

// start starts one of the processes.
func start(t *testing.T, config ServerConfig, o *Options) *Servers {
	t.Helper()
	servers, err := Start(t.Context(), &Config{Servers: []ServerConfig{config}}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := servers.Close(); err != nil {
			t.Error(err)
		}
	})
	return servers
}

// unstarted returns a server that starts when it is first used.
func unstarted(t *testing.T, config ServerConfig, o *Options) *Servers {
	t.Helper()
	all := o.withDefaults()
	s := &Servers{closed: make(chan struct{}), servers: []*server{newServer(t.Context(), config, nil, &all)}}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// leaks fails the test if goroutines of this package or the SDK outlive it.
func leaks(t *testing.T) {
	t.Cleanup(func() {
		var stacks string
		for begin := time.Now(); time.Since(begin) < time.Minute; {
			buf := make([]byte, 1<<20)
			stacks = string(buf[:runtime.Stack(buf, true)])
			if !strings.Contains(stacks, "mcptools.(*") && !strings.Contains(stacks, "jsonrpc2") {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("goroutines left behind:\n%s", stacks)
	})
}
