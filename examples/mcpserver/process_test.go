package main

import (
	"bufio"
	"bytes"
	"flag"
	"io"
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

// serveProcess starts the server as a process that serves HTTP, and returns where.
func serveProcess(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], slices.Concat([]string{"mcpserver", "-transport", "http", "-addr", "127.0.0.1:0"},
		patient, args)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // a killed one may still be writing
	})
	address := regexp.MustCompile(`url=(\S+)`)
	for log := bufio.NewScanner(stderr); log.Scan(); {
		if at := address.FindStringSubmatch(log.Text()); at != nil {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return cmd, at[1]
		}
	}
	t.Fatal("the server does not say where it is")
	return nil, ""
}

func dial(t *testing.T, url string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// TestShutdown ends a server that is at work: what runs may end, and is answered.
func TestShutdown(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	cmd, url := serveProcess(t, "-config", path)
	session := dial(t, url)
	running := make(chan execution, 1)
	go func() {
		defer close(running) // whatever fails
		running <- executeCode(t, session, map[string]any{"code": `
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
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "go-on"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if e := <-running; string(e.Result) != `"done"` {
		t.Errorf("got %+v", e)
	}
	session.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// TestKilled kills a server and begins another one with the same storage: what was
// kept is there, whole.
func TestKilled(t *testing.T) {
	t.Parallel()
	storage := t.TempDir()
	cmd, url := serveProcess(t, "-storage", storage)
	session := dial(t, url)
	file := get[codeFile](t, session, "initialize_code_file", map[string]any{"content": "6 * 7"})
	begun := get[execution](t, session, "execute_code", map[string]any{"code": "let n = 20", "session": "new"})
	lost := make(chan error)
	go func() {
		_, err := session.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": "n++; await sleep(20000)",
				"session": begun.Session}})
		lost <- err
	}()
	time.AfterFunc(100*time.Millisecond, func() { _ = cmd.Process.Kill() })
	if err := <-lost; err == nil {
		t.Error("a server that was killed has answered")
	}
	_ = cmd.Wait()
	_, url = serveProcess(t, "-storage", storage)
	session = dial(t, url)
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
	var stdout bytes.Buffer
	p := process{func(string) (string, bool) { return "", false }, nil, nil, &stdout, t.Output()}
	if code := p.command(t.Context(), []string{"-check", "-config", path, "-packages", "zod", "-tokens", tokensFile(t),
		"-transport", "http"}); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"tool       execute_code\n", "tool       search_tools\n", "tool       get_environment_config\n",
		"server     fs: 5 tools (MCP 2025-11-25): die, learn, list_directory, read_text_file, write_file\n",
		"clients    http on 127.0.0.1:8080/mcp: clients with a token",
		"programs   30s, at most 10s of it computing, 256 MiB, 1000 tool calls, ", "packages   zod; installing is off\n",
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
