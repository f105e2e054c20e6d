//go:build integration

package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var eras = []string{"2025-11-25", "2026-07-28"}

// TestServer runs the suite against the example, over HTTP.
func TestServer(t *testing.T) {
	t.Parallel()
	url := start(t, exec.Command(build(t, "../../../../examples/mcpserver"), "-transport", "http", "-addr", "127.0.0.1:0"))
	said := readTable(t, "As a server")
	for _, revision := range eras {
		compare(t, said, revision, runSuite(t, "server", "--url", url, "--suite", "all", "--spec-version", revision))
	}
}

// TestServing runs all scenarios against package serve, which serves the SDK's own server for
// them.
func TestServing(t *testing.T) {
	t.Parallel()
	url := start(t, exec.Command(build(t, "-overlay", overlay(t), "./testdata/everything")))
	said := readTable(t, "As a server")
	for _, r := range said {
		for revision, cell := range r.cells {
			if cell != lacks {
				r.cells[revision] = passes
			}
		}
	}
	for _, revision := range eras {
		compare(t, said, revision, runSuite(t, "server", "--url", url, "--suite", "all", "--spec-version", revision))
	}
}

var announced = regexp.MustCompile(`url=(http://\S+)`)

// start starts a server and returns its address from its log.
func start(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if m := announced.FindStringSubmatch(lines.Text()); m != nil {
				at <- m[1]
			}
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	select {
	case url := <-at:
		return url
	case <-ended:
		t.Fatalf("%v ended: %v", cmd.Args, cmd.ProcessState)
	case <-time.After(2 * time.Minute):
		t.Fatalf("%v did not log its address", cmd.Args)
	}
	return ""
}

// overlay adds the SDK's server to the files of testdata/everything.
func overlay(t *testing.T) string {
	t.Helper()
	folder, err := exec.Command("go", "list", "-f", "{{.Dir}}",
		"github.com/modelcontextprotocol/go-sdk/conformance/everything-server").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	renamed := bytes.Replace(source, []byte("\nfunc main() {"), []byte("\nfunc itsMain() {"), 1)
	copied, list := filepath.Join(t.TempDir(), "sdk.go"), filepath.Join(t.TempDir(), "overlay.json")
	place, err := filepath.Abs("testdata/everything/sdk.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{place: copied}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{copied: renamed, list: text} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return list
}
