//go:build integration

package mcptools

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/tools"
)

// npmServers starts the servers of .ci/npm from a configuration file. WRIT_NPM_DIR is the
// node_modules directory that this command makes:
//
//	npm ci --ignore-scripts
func npmServers(t *testing.T, entries map[string]map[string]any) *Servers {
	t.Helper()
	modules := os.Getenv("WRIT_NPM_DIR")
	if modules == "" {
		t.Fatal("WRIT_NPM_DIR is not set; run npm ci in a copy of .ci/npm and set it to the node_modules there")
	}
	for name, entry := range entries {
		entry["command"] = filepath.Join(modules, ".bin", "mcp-server-"+name)
	}
	config, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mcp_servers.json")
	write(t, path, string(config))
	s, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, status := range s.Status() {
		if status.Err != nil {
			t.Error(status.Err)
		}
		equal(t, status.Name+" speaks", status.ProtocolVersion, "2025-11-25")
	}
	return s
}

// steps calls tools in order: tool, arguments, expected result.
func steps(t *testing.T, named map[string]*tools.Tool, calls ...[3]string) {
	t.Helper()
	for _, c := range calls {
		tool := named[c[0]]
		if tool == nil {
			t.Errorf("no tool %s", c[0])
			continue
		}
		equal(t, c[0]+" "+c[1], call(t.Context(), tool, c[1]), c[2])
	}
}

func TestNPMFilesystem(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a.txt"), "alpha\nbeta\n")
	write(t, filepath.Join(dir, "n.json"), "007")
	named := list(t, npmServers(t, map[string]map[string]any{"filesystem": {"args": []string{dir}}}))
	equal(t, "tools", fmt.Sprint(len(named)), "14")
	path := func(name string) string { return jsonvalue.Text(filepath.Join(dir, name)) }
	steps(t, named,
		[3]string{"read_text_file", `{"path":` + path("a.txt") + `}`, `{"content":"alpha\nbeta\n"}`},
		[3]string{"read_text_file", `{"path":` + path("n.json") + `,"head":1}`, `{"content":"007"}`},
		[3]string{"list_directory", `{"path":` + path(".") + `}`, `{"content":"[FILE] a.txt\n[FILE] n.json"}`},
		[3]string{
			"write_file", `{"path":` + path("new.txt") + `,"content":"<é>\n"}`,
			`{"content":` + jsonvalue.Text("Successfully wrote to "+filepath.Join(dir, "new.txt")) + `}`,
		},
		[3]string{"read_text_file", `{"path":` + path("new.txt") + `}`, `{"content":"<é>\n"}`},
		[3]string{
			"read_text_file", `{"path":"/etc/hostname"}`,
			`failed: Access denied - path outside allowed directories: /etc/hostname not in ` + dir,
		},
		[3]string{
			"read_text_file", `{}`,
			`invalid_arguments: Input validation error: Invalid arguments for tool read_text_file: Required at path`,
		},
	)
	written, err := os.ReadFile(filepath.Join(dir, "new.txt"))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the file", string(written), "<é>\n")
}

func TestNPMMemory(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "memory.jsonl")
	named := list(t,
		npmServers(t, map[string]map[string]any{"memory": {"env": map[string]string{"MEMORY_FILE_PATH": store}}}))
	equal(t, "tools", fmt.Sprint(len(named)), "9")
	ada := `{"name":"Ada","entityType":"person","observations":["wrote notes"]}`
	steps(t, named,
		[3]string{"create_entities", `{"entities":[` + ada + `]}`, `{"entities":[` + ada + `]}`},
		[3]string{"create_entities", `{"entities":[` + ada + `]}`, `{"entities":[]}`},
		[3]string{"search_nodes", `{"query":"notes"}`, `{"entities":[` + ada + `],"relations":[]}`},
		[3]string{"search_nodes", `{"query":"nothing"}`, `{"entities":[],"relations":[]}`},
		[3]string{"delete_entities", `{"entityNames":["Ada"]}`, `{"success":true,"message":"Entities deleted successfully"}`},
		[3]string{"read_graph", `{}`, `{"entities":[],"relations":[]}`},
	)
}

func TestNPMEverything(t *testing.T) {
	t.Parallel()
	named := list(t, npmServers(t, map[string]map[string]any{"everything": {}}))
	steps(t, named,
		[3]string{"echo", `{"message":"007"}`, `"Echo: 007"`},
		[3]string{"get-sum", `{"a":2,"b":3}`, `"The sum of 2 and 3 is 5."`},
		[3]string{"get-structured-content", `{"location":"Chicago"}`,
			`{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`},
	)
	var blocks []struct{ Type, MIMEType, Data string }
	image := call(t.Context(), named["get-tiny-image"], `{}`)
	if err := json.Unmarshal([]byte(image), &blocks); err != nil {
		t.Fatalf("%v: %.200s", err, image)
	}
	var types []string
	for _, b := range blocks {
		types = append(types, strings.TrimSpace(b.Type+" "+b.MIMEType))
	}
	equal(t, "blocks", fmt.Sprint(types), "[text image image/png text]")
	if strings.Contains(call(t.Context(), named["get-env"], `{}`), "WRIT_NPM_DIR") {
		t.Error("the server sees the host's environment")
	}
}

// All three servers in one set.
func TestNPMTogether(t *testing.T) {
	t.Parallel()
	s := npmServers(t, map[string]map[string]any{
		"filesystem": {"args": []string{t.TempDir()}},
		"memory":     {"env": map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}},
		"everything": {},
	})
	set, err := tools.NewSet(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	equalLines(t, "warnings", set.Warnings(), `mcp server "everything": tool "simulate-research-query" is left out `+
		`because it must be called as a task, which is not supported`)
	paths := map[string]bool{}
	for _, b := range set.Bindings() {
		paths[b.Path()] = true
	}
	for _, path := range []string{"filesystem.read_text_file", "memory.read_graph", "everything.get_sum"} {
		if !paths[path] {
			t.Errorf("no %s in %v", path, paths)
		}
	}
}
