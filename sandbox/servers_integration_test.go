//go:build integration

package sandbox_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
)

// serversTable is the document that lists the servers that were tried.
const serversTable = "../docs/servers.md"

// TestServers runs programs over real MCP servers from npm. Each archive in
// testdata/servers describes a server: its entry in a configuration file, the files that
// it needs, and programs with their values.
func TestServers(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("WRIT_NPM_DIR")
	if modules == "" {
		t.Fatal("WRIT_NPM_DIR is not set; run npm ci in a copy of .ci/npm and set it to the node_modules there")
	}
	known := map[string]string{
		"NPM":      modules + "/.bin",
		"CHROMIUM": firstLine(t, filepath.Dir(modules)+"/chromium.mjs"),
		"MONGODB":  "mongodb://127.0.0.1:" + firstLine(t, filepath.Dir(modules)+"/mongodb.mjs"),
		"NOTION":   notion(t),
	}
	archives := archivesIn(t, "testdata/servers")
	box := openTiers(t, sandbox.Limits{Time: 2 * time.Minute})["isolated"]
	rows := make([]string, len(archives))
	var all sync.WaitGroup
	for i, a := range archives {
		all.Add(1)
		t.Run(a.name(), func(t *testing.T) {
			t.Parallel()
			t.Cleanup(all.Done)
			rows[i] = testServer(t, box, a, maps.Clone(known))
		})
	}
	t.Run("table", func(t *testing.T) {
		t.Parallel()
		all.Wait()
		checkServersTable(t, rows)
	})
}

// testServer runs the programs of one archive and returns its row of the table.
func testServer(t *testing.T, box *sandbox.Sandbox, archive *archive, known map[string]string) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	known["DIR"] = dir
	name := filepath.Base(t.Name())
	sections := map[string]string{}
	for _, f := range archive.Files {
		sections[f.Name] = string(f.Data)
		if under, ok := strings.CutPrefix(f.Name, "files/"); ok {
			putFile(t, filepath.Join(dir, under), f.Data)
		}
	}
	servers := startServer(t, name, sections["entry.json"], known)
	set, err := tools.NewSet(t.Context(), servers)
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]any{"DIR": dir, "MONGODB": known["MONGODB"]}
	for _, f := range archive.Files {
		if program, ok := strings.CutSuffix(f.Name, ".js"); ok {
			p := sandbox.Program{Source: string(f.Data), Inputs: inputs, Tools: set}
			out, err := box.Run(t.Context(), p)
			if got, want := valueOf(out, err), strings.TrimSpace(sections[program+".value"]); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", program, got, want)
			}
		}
	}
	status := servers.Status()[0]
	return fmt.Sprintf("| %s | %s | %d | %s |\n", name, status.ProtocolVersion, status.Tools,
		strings.Join(strings.Fields(string(archive.Comment)), " "))
}

func putFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func startServer(t *testing.T, name, entry string, known map[string]string) *mcptools.Servers {
	t.Helper()
	lookup := func(variable string) (string, bool) {
		value, ok := known[variable]
		return value, ok
	}
	config, err := mcptools.ParseConfig(fmt.Appendf(nil, `{"mcpServers": {%q: %s}}`, name, entry), lookup)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := mcptools.Start(t.Context(), config, nil)
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

func valueOf(out *sandbox.Outcome, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case out.Failure != nil:
		return out.Failure.Error()
	default:
		return string(out.Value)
	}
}

// checkServersTable compares the table in the documentation with the results.
func checkServersTable(t *testing.T, rows []string) {
	slices.Sort(rows)
	data, err := os.ReadFile(serversTable)
	if err != nil {
		t.Fatal(err)
	}
	const head = "|---|---|---|---|\n"
	before, _, ok := strings.Cut(string(data), head)
	if !ok {
		t.Fatalf("%s has no table", serversTable)
	}
	want := before + head + strings.Join(rows, "")
	switch {
	case *update:
		putFile(t, serversTable, []byte(want))
	case string(data) != want:
		t.Errorf("%s is outdated; run this test with -update\n%s", serversTable, want)
	}
}

// firstLine starts a script of .ci/npm and returns the first line of its output. The
// script ends with the test.
func firstLine(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", script)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the end of the context killed it
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return strings.TrimSpace(line)
}

// notion is a fake of Notion's service with one page.
func notion(t *testing.T) string {
	t.Helper()
	page := map[string]any{"object": "page", "id": "p1", "title": "Plan"}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("POST /v1/search", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer ntn_none" {
			answer(w, http.StatusUnauthorized, map[string]any{"object": "error", "message": "API token is invalid."})
			return
		}
		answer(w, http.StatusOK, map[string]any{"object": "list", "results": []any{page}})
	})
	mux.HandleFunc("GET /v1/pages/p1", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, page) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, map[string]any{"object": "error", "message": "Could not find page."})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}
