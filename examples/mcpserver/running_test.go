//go:build integration

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// In the process of the server a signal has it say how many goroutines there are:
// what it measures itself is for its operators.
func init() {
	if len(os.Args) < 2 || os.Args[1] != "mcpserver" {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			fmt.Fprintf(os.Stderr, "goroutines=%d\n", runtime.NumGoroutine())
		}
	}()
}

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
	cmd := exec.Command(os.Args[0], slices.Concat([]string{"mcpserver", "-addr", "127.0.0.1:0"}, patient, args)...)
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

// usage is what a process has.
type usage struct {
	rss         int // MB
	children    int // with theirs
	descriptors int
	goroutines  int
}

// usage measures the server.
func (r *running) usage(t *testing.T) usage {
	t.Helper()
	_ = r.cmd.Process.Signal(syscall.SIGUSR1)
	goroutines, err := strconv.Atoi(<-r.goroutines)
	if err != nil {
		t.Fatal(err)
	}
	return usage{
		rss:         rss(t, r.cmd.Process.Pid),
		children:    len(descendants(r.cmd.Process.Pid)),
		descriptors: len(glob(t, fmt.Sprintf("/proc/%d/fd/*", r.cmd.Process.Pid))),
		goroutines:  goroutines,
	}
}

func rss(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmRSS:\s*(\d+) kB`).FindSubmatch(status)
	kb, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kb / 1024
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// descendants are the processes that a process has started, and those that these
// have started.
func descendants(pid int) (all []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		_, after, found := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if err != nil || !found || fields[1] != strconv.Itoa(pid) || fields[0] == "Z" {
			continue // it has ended meanwhile, or is somebody else's
		}
		child, _ := strconv.Atoi(strings.Split(path, "/")[2])
		all = append(append(all, child), descendants(child)...)
	}
	return all
}
