package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// role is the variable that makes the test's executable one of the processes.
const role = "WRIT_OWNAGENT"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "main":
		main()
	case "server":
		server()
	default:
		os.Exit(m.Run())
	}
}

// server is a stand-in for the server from npm.
func server() {
	type file struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "write_file", Description: "Writes a file."},
		func(_ context.Context, _ *mcp.CallToolRequest, f file) (*mcp.CallToolResult, any, error) {
			return nil, nil, os.WriteFile(f.Path, []byte(f.Content), 0o600)
		})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

func TestOwnAgent(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	try(t, fmt.Sprintf("%s=server exec '%s'", role, self))
}

// try runs the program with an npx that is a shell script, and does on the page what the documentation says.
func try(t *testing.T, npx string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("npx is replaced by a shell script")
	}
	bin, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "npx"), []byte("#!/bin/sh\n"+npx+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), os.Args[0])
	program.Dir = dir
	program.Env = append(os.Environ(), role+"=main", "OPENAI_API_KEY=",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	program.Cancel = func() error { return program.Process.Signal(os.Interrupt) }
	stderr, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = program.Process.Signal(os.Interrupt)
		if err := program.Wait(); err != nil {
			t.Error(err)
		}
	}()
	lines := bufio.NewScanner(stderr)
	lines.Scan()
	url := lines.Text()
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Fatalf("got %q instead of a URL", url)
	}

	var run struct{ ID string }
	if err := json.Unmarshal([]byte(post(t, url+"runs", `{"task": "Write Ann's orders."}`)), &run); err != nil {
		t.Fatal(err)
	}
	paused := until(t, url, "paused")
	if len(paused.Waiting) != 1 || paused.Waiting[0].Tool != "files.write_file" {
		t.Fatalf("waiting: %+v", paused)
	}
	if _, err := os.Stat(filepath.Join(dir, "orders.txt")); err == nil {
		t.Error("the file was written without approval")
	}
	decision := fmt.Sprintf(`{"hash": %q, "decisions": {%q: {"approved": true}}}`, paused.Hash, paused.Waiting[0].ID)
	post(t, url+"runs/"+run.ID+"/resume", decision)
	if done := until(t, url, "done"); !strings.Contains(done.Answer, "orders.txt has 2 orders.") {
		t.Errorf("got %+v", done)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "orders.txt")); string(text) != "tent for Ann\nlamp for Ann" {
		t.Errorf("the file has %q (%v)", text, err)
	}
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", "http://"+r.Host)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text := new(strings.Builder)
	if _, err := bufio.NewReader(response.Body).WriteTo(text); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s (%v)", url, response.StatusCode, text, err)
	}
	return text.String()
}

// run is what the page knows of a run.
type run struct {
	State, Answer, Hash string
	Waiting             []struct{ ID, Tool string }
}

// until waits until the run has a state.
func until(t *testing.T, url, state string) run {
	t.Helper()
	response, err := http.Get(url + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var runs []run
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if ok && json.Unmarshal([]byte(data), &runs) == nil && len(runs) == 1 && runs[0].State == state {
			return runs[0]
		}
	}
	t.Fatalf("no run is %s", state)
	return run{}
}
