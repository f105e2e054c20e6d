package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/writ-go/writ/tools"
)

func TestStdio(t *testing.T) {
	t.Parallel()
	s := start(t, fake("plain"), nil)
	equal(t, "tools", fmt.Sprint(len(list(t, s))), "1")
	equal(t, "status", brief(s), "plain ready 2025-11-25, 1 tools, 0 restarts")
	status := s.Status()[0]
	equal(t, "output", fmt.Sprintf("%d %q", status.Noise, status.Stderr), `0 ""`)
}

func TestNoiseOnStdoutIsSkipped(t *testing.T) {
	t.Parallel()
	s := start(t, fake("noisy"), nil)
	equal(t, "result", call(t.Context(), list(t, s)["t"], `{}`), `"fine"`)
	equal(t, "noise", fmt.Sprint(s.Status()[0].Noise), "4")
}

// Servers that do not support the newer protocol get the older one; a server that supports only
// the newer one is started again.
func TestProtocols(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{
		"dies-on-discover": "2025-11-25", "ignores-discover": "2025-11-25", "modern": "2026-07-28",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, fake(name), &Options{ConnectTimeout: time.Minute, Grace: 50 * time.Millisecond})
			equal(t, "tools", fmt.Sprint(len(list(t, s))), "1")
			equal(t, "version", s.Status()[0].ProtocolVersion, version)
		})
	}
}

func TestConnectErrors(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	in := fake("plain")
	in.Dir = missing
	remote := ServerConfig{Name: "remote", URL: "example.com/mcp"}
	for _, c := range []struct {
		config ServerConfig
		want   string
	}{
		{fake("broken"), `mcp server "broken": exited before it answered (exit status 7); run its command by hand to see why
  its stderr ends with:
    Error: TOKEN is not set
        at main.js:1`},
		{fake("not-mcp"), `mcp server "not-mcp": exited before it answered (exit status 2); run its command by hand to see why
  its stdout has a line that is not an MCP message: "usage: tool [-v] file"`},
		{fake("refuses"), `mcp server "refuses": handshake: calling "initialize": not today`},
		{fake("batch-first"), `mcp server "batch-first": handshake: it sent a JSON-RPC batch, ` +
			`which MCP no longer supports, so its connection was closed`},
		{fake("silent"),
			`mcp server "silent": no answer within 100ms; check that its command starts an MCP server on stdio, or raise ` +
				`the timeout`},
		{ServerConfig{Name: "git", Command: "no-such-mcp-server"},
			`mcp server "git": command "no-such-mcp-server" was not found in PATH; install it, or give its full path`},
		{ServerConfig{Name: "git", Command: missing},
			fmt.Sprintf(`mcp server "git": command %q cannot be run: exec: %q: stat %s: no such file or directory; `+
				`correct the path, or make it executable`, missing, missing, missing)},
		{in, fmt.Sprintf(`mcp server "plain": directory %q does not exist; create it, or correct "cwd"`, missing)},
		{remote, `mcp server "remote": "url" must be an address that starts with http:// or https://`},
	} {
		t.Run(c.config.Name, func(t *testing.T) {
			t.Parallel()
			c.config.Timeout = 100 * time.Millisecond
			if c.config.Name != "silent" {
				c.config.Timeout = time.Minute
			}
			s, err := Start(t.Context(), &Config{Servers: []ServerConfig{c.config}}, &Options{Grace: 50 * time.Millisecond})
			if s != nil {
				t.Error("servers were returned with an error")
			}
			equal(t, "error", fmt.Sprint(err), "all mcp servers failed:\n"+c.want)
		})
	}
}

// The failure of one server does not affect the others.
func TestOneFailureIsNotFatal(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "mcp.json")
	good := fake("plain")
	text, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"bad":  map[string]any{"command": "no-such-mcp-server"},
		"good": map[string]any{"command": good.Command, "args": good.Args, "autoApprove": []string{"*"}},
		"off":  map[string]any{"command": "no-such-mcp-server", "disabled": true},
	}})
	write(t, config, string(text))

	s, err := Open(t.Context(), config, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	equal(t, "tools", list(t, s)["t"].Namespace, "good")
	equal(t, "status", brief(s), `bad failed , 0 tools, 0 restarts: `+
		`mcp server "bad": command "no-such-mcp-server" was not found in PATH; install it, or give its full path
good ready 2025-11-25, 1 tools, 0 restarts`)
	equalLines(t, "warnings", s.Warnings(),
		`mcp server "good": "autoApprove" is not supported and has no effect; `+
			`policy.Approve decides which calls need approval`,
		`mcp server "bad": command "no-such-mcp-server" was not found in PATH; install it, or give its full path`)
}

func TestCanceledStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	s, err := Start(ctx, &Config{Servers: []ServerConfig{fake("silent")}}, &Options{Grace: 50 * time.Millisecond})
	if s != nil {
		t.Error("servers were returned with an error")
	}
	equal(t, "error", fmt.Sprint(err), "mcp servers: connecting was canceled: context canceled")
}

func TestServerDiesDuringCall(t *testing.T) {
	t.Parallel()
	s := start(t, fake("dies"), nil)
	tool := list(t, s)["t"]

	_, err := tool.Handler(t.Context(), json.RawMessage(`{}`))
	var te *tools.ToolError
	if !errors.As(err, &te) {
		t.Fatal(err)
	}
	equal(t, "for the program", te.Kind+": "+te.Message,
		"unknown: the connection to the tool's server was lost; whether the call took effect is unknown")
	equal(t, "for the host", fmt.Sprint(te.Unwrap()), `mcp server "dies": tool "t": calling "tools/call": EOF
mcp server "dies" exited (exit status 3); the next use starts it again
  its stderr ends with:
    panic: out of cheese`)

	<-current(s).gone
	equal(t, "status", fmt.Sprint(s.Status()[0].Err),
		`mcp server "dies" exited (exit status 3); the next use starts it again
  its stderr ends with:
    panic: out of cheese`)
	equal(t, "tools", fmt.Sprint(len(list(t, s))), "1")
	equal(t, "status", brief(s), "dies ready 2025-11-25, 1 tools, 1 restarts")
}

// A batch ends the connection at once, instead of the call at its deadline.
func TestBatchEndsTheConnection(t *testing.T) {
	t.Parallel()
	s := start(t, fake("batch"), &Options{Grace: 50 * time.Millisecond})
	tool := list(t, s)["t"]
	equal(t, "result", call(t.Context(), tool, `{}`),
		"unknown: the connection to the tool's server was lost; whether the call took effect is unknown")
	<-current(s).gone
	equal(t, "status", brief(s), `batch failed 2025-11-25, 1 tools, 0 restarts: mcp server "batch" sent a JSON-RPC batch, `+
		`which MCP no longer supports, so its connection was closed; the next use starts it again`)
}

// A server that stops reading its stdin delays no call beyond its deadline.
func TestServerThatStopsReading(t *testing.T) {
	t.Parallel()
	s := start(t, fake("deaf"), &Options{Grace: 50 * time.Millisecond})
	tool := list(t, s)["t"]
	args := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	for range 4 {
		ctx := lateContext{t.Context(), make(chan struct{})}
		go func() {
			for c := current(s); c.exchange.Pending() == 0; {
				time.Sleep(time.Millisecond)
			}
			close(ctx.over)
		}()
		equal(t, "result", call(ctx, tool, args), "timeout: no answer in time; whether the call took effect is unknown")
	}
}

// lateContext is a context whose deadline passes when over is closed.
type lateContext struct {
	context.Context
	over chan struct{}
}

func (c lateContext) Done() <-chan struct{} { return c.over }

func (c lateContext) Err() error {
	select {
	case <-c.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestMegabytesOnStderr(t *testing.T) {
	t.Parallel()
	s := start(t, fake("chatty"), nil)
	equal(t, "tools", fmt.Sprint(len(list(t, s))), "1")
	kept := ""
	for begin := time.Now(); !strings.HasSuffix(kept, "line") &&
		time.Since(begin) < time.Minute; time.Sleep(time.Millisecond) {
		kept = s.Status()[0].Stderr // which comes by a pipe of its own
	}
	if len(kept) > 8<<10 || !strings.HasSuffix(kept, "play \nthe last line") {
		t.Errorf("%d bytes kept, ending %q", len(kept), kept[max(0, len(kept)-40):])
	}
}

func TestBigResults(t *testing.T) {
	t.Parallel()
	s := start(t, fake("big"), &Options{MaxMessage: 2 << 20, MaxResult: 1 << 20})
	tool := list(t, s)["t"]
	equal(t, "within bounds", fmt.Sprint(len(call(t.Context(), tool, `{"size": 1000000}`))), "1000002")
	equal(t, "over MaxResult", call(t.Context(), tool, `{"size": 1500000}`),
		"too_large: the call was made, but the response has 1500002 bytes; the limit is 1048576; ask for less")
	equal(t, "over MaxMessage", call(t.Context(), tool, `{"size": 20000000}`),
		"too_large: the call was made, but the response has 20000073 bytes; the limit is 2097152; ask for less")
	equal(t, "afterwards", call(t.Context(), tool, `{"size": 1}`), `"x"`)
}

// inherited are the variables that every server gets on Unix.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// The test is not parallel because of t.Setenv.
func TestEnvironmentIsMinimal(t *testing.T) {
	t.Setenv("MCPTOOLS_SECRET", "s3cret")
	t.Setenv("MCPTOOLS_WANTED", "wanted")
	for _, name := range []string{"TEMP", "USERNAME", "APPDATA"} { // only servers on Windows inherit these
		t.Setenv(name, "s3cret")
	}
	config := fake("environment")
	config.Env = map[string]string{"GIVEN": "given"}
	config.Dir = t.TempDir()
	s := start(t, config, &Options{Env: []string{"MCPTOOLS_WANTED", "MCPTOOLS_UNSET"}})

	var got struct {
		Names []string
		Dir   string
		Given string
	}
	data(t, list(t, s)["t"], &got)
	extra := slices.DeleteFunc(got.Names, func(name string) bool { return slices.Contains(inherited, name) })
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		extra = slices.DeleteFunc(extra, func(name string) bool { return strings.HasPrefix(name, "__") || name == "PWD" })
	}
	equal(t, "variables", fmt.Sprint(extra), "[MCPTOOLS_WANTED GIVEN]")
	equal(t, "value", got.Given, "given")
	want, _ := filepath.EvalSymlinks(config.Dir)
	equal(t, "folder", got.Dir, want)
}

// Close stops everything that a server started, even if the processes ignore signals.
func TestCloseEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	s := start(t, fake("stubborn"), &Options{Grace: 100 * time.Millisecond})
	var pids []int
	data(t, list(t, s)["t"], &pids)
	for range 2 { // Close may be called again
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d of %v is still running", pid, pids)
		}
	}
}

// If the host is killed, the kernel kills everything that a server started, even if it ignores signals and the end of
// its input.
func TestKilledHostLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux")
	}
	config := fake("host")
	host := exec.Command(config.Command, config.Args...)
	host.Env = append(os.Environ(), "GOCOVERDIR="+coverage)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Wait() })
	var pids []int
	err = json.NewDecoder(out).Decode(&pids)
	if killErr := host.Process.Kill(); err != nil || killErr != nil || len(pids) != 2 {
		t.Fatal(pids, err, killErr)
	}
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d of %v is still running", pid, pids)
		}
	}
}

// gone reports whether a process ends within a minute. A zombie counts as ended.
func gone(pid int) bool {
	for begin := time.Now(); time.Since(begin) < time.Minute; {
		p, err := os.FindProcess(pid)
		if err != nil || p.Signal(syscall.Signal(0)) != nil {
			return true
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if strings.Contains(string(stat), ") Z ") {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

func TestNothingIsLeftBehind(t *testing.T) {
	leaks(t)
	s := start(t, fake("plain"), nil)
	tool := list(t, s)["t"]
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_ = call(ctx, tool, `{}`)
	pid := s.servers[0].attempt.conn.process.PID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		t.Error("the process is still running")
	}
	equal(t, "a call after Close", call(t.Context(), tool, `{}`),
		"unavailable: the tool's server is not running; the call was not made")
	_, err := s.Tools(t.Context())
	equal(t, "tools after Close", fmt.Sprint(err), "mcp servers are closed")

	for _, name := range []string{"broken", "silent"} {
		config := fake(name)
		config.Timeout = 100 * time.Millisecond
		if _, err := Start(t.Context(), &Config{Servers: []ServerConfig{config}},
			&Options{Grace: 50 * time.Millisecond}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A response that cannot be decoded fails its call at once.
func TestUndecodableResponse(t *testing.T) {
	t.Parallel()
	s := start(t, fake("deep"), nil)
	equal(t, "result", call(t.Context(), list(t, s)["t"], `{}`),
		"invalid_result: the call was made, but its response cannot be read")
}
