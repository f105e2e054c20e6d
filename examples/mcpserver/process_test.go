package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// running is a server in a process of its own, reached over HTTP.
type running struct {
	cmd        *exec.Cmd
	url        string // of the endpoint
	goroutines chan string
	ended      chan struct{}
}

var announced = regexp.MustCompile(`url=(http://\S+)`)

// launch starts the server and waits until it says where it is.
func launch(t *testing.T, args ...string) *running {
	t.Helper()
	cmd := exec.Command(os.Args[0], slices.Concat([]string{"mcpserver", "-transport", "http", "-addr", "127.0.0.1:0"},
		patient, args)...)
	r := &running{cmd: cmd, goroutines: make(chan string), ended: make(chan struct{})}
	stderr, err := r.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at, said := make(chan string, 1), t.Output()
	go func() {
		defer close(r.ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if number, ok := strings.CutPrefix(lines.Text(), "goroutines="); ok {
				r.goroutines <- number
				continue
			}
			fmt.Fprintln(said, lines.Text())
			if m := announced.FindStringSubmatch(lines.Text()); m != nil {
				at <- m[1]
			}
		}
		_ = r.cmd.Wait()
	}()
	t.Cleanup(func() { r.stop(t) })
	select {
	case r.url = <-at:
	case <-r.ended:
		t.Fatalf("the server ended: %v", r.cmd.ProcessState)
	case <-time.After(2 * time.Minute):
		t.Fatal("the server does not say where it is")
	}
	return r
}

// stop ends the server as an operator would.
func (r *running) stop(t *testing.T) {
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.ended:
	case <-time.After(2 * time.Minute):
		t.Error("the server does not end")
		r.kill()
	}
}

// kill ends the server as a crash would.
func (r *running) kill() {
	_ = r.cmd.Process.Kill()
	<-r.ended
}

// Versions of the protocol that clients ask for: the newest, without sessions, and
// the newest with.
const (
	newEra = "2026-07-28"
	oldEra = "2025-11-25"
)

// dialed connects to an endpoint.
func dialed(ctx context.Context, t *testing.T, url, token, version string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url,
		HTTPClient: &http.Client{Transport: bearer(token)}},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the server speaks %s, and was asked for %s", got, version)
	}
	return session
}

// TestShutdown ends a server that is at work: what runs may end, and is answered.
func TestShutdown(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	r := launch(t, "-config", path)
	session := dialed(t.Context(), t, r.url, "", newEra)
	running := make(chan execution, 1)
	go func() {
		defer close(running) // whatever fails
		running <- get[execution](t, session, "execute_code", map[string]any{"code": `
			await fs.write_file({path: "begun", content: ""});
			while (!(await fs.list_directory({path: "."})).includes("go-on")) await sleep(5);
			"done"`})
	}()
	for {
		if _, err := os.Stat(filepath.Join(folder, "begun")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "go-on"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if e := <-running; string(e.Result) != `"done"` {
		t.Errorf("got %+v", e)
	}
	session.Close()
	if <-r.ended; !r.cmd.ProcessState.Success() {
		t.Errorf("the server ended with %v", r.cmd.ProcessState)
	}
}

// TestKilled kills a server and begins another one with the same storage: what was
// kept is there, whole.
func TestKilled(t *testing.T) {
	t.Parallel()
	storage := t.TempDir()
	r := launch(t, "-storage", storage)
	session := dialed(t.Context(), t, r.url, "", newEra)
	file := get[codeFile](t, session, "initialize_code_file", map[string]any{"content": "6 * 7"})
	begun := get[execution](t, session, "execute_code", map[string]any{"code": "let n = 20", "session": "new"})
	lost := make(chan error)
	go func() {
		_, err := session.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": "n++; await sleep(20000)",
				"session": begun.Session}})
		lost <- err
	}()
	time.AfterFunc(100*time.Millisecond, func() { _ = r.cmd.Process.Kill() })
	if err := <-lost; err == nil {
		t.Error("a server that was killed has answered")
	}
	<-r.ended
	session = dialed(t.Context(), t, launch(t, "-storage", storage).url, "", oldEra)
	if e := get[execution](t, session, "execute_code_file",
		map[string]any{"file_path": file.FilePath}); string(e.Result) != "42" {
		t.Errorf("got %+v", e)
	}
	if e := get[execution](t, session, "execute_code",
		map[string]any{"code": "n + 1", "session": begun.Session}); string(e.Result) != "21" {
		t.Errorf("got %+v", e)
	}
	session.Close()
}

// TestCheck compares what is printed with what there is.
func TestCheck(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	_, tokens := writeTokens(t, 1)
	var stdout bytes.Buffer
	p := process{func(string) (string, bool) { return "", false }, nil, nil, &stdout, t.Output()}
	if code := p.command(t.Context(), []string{"-check", "-config", path, "-packages", "zod", "-tokens", tokens,
		"-transport", "http"}); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"tool       execute_code\n", "tool       search_tools\n", "tool       get_environment_config\n",
		"server     fs: 5 tools (MCP 2025-11-25): die, learn, list_directory, read_text_file, write_file\n",
		"clients    http on 127.0.0.1:8080/mcp: clients with a token",
		"programs   30s, at most 10s of it CPU time, 256 MiB, 1000 tool calls, ", "packages   zod; installing is off\n",
		"isolation  a process of its own",
		"warning    packages: ",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is missing:\n%s", want, stdout.String())
		}
	}
	stdout.Reset()
	if code := p.command(t.Context(), []string{"-help"}); code != 0 {
		t.Errorf("exit code %d", code)
	}
	newSettings(io.Discard).flags().VisitAll(func(f *flag.Flag) {
		if !strings.Contains(stdout.String(), "  -"+f.Name) {
			t.Errorf("-help lacks %s", f.Name)
		}
	})
}
