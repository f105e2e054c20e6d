package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/tools/mcptools"
)

var tomlEntry = regexp.MustCompile(`(?s)^\[mcp_servers\.(\w+)\]\ncommand = ("[^"]*")\nargs = (\[[^]]*\])\n$`)

// TestClients starts the server as each entry of clients.md says, and finds its tools.
func TestClients(t *testing.T) {
	full(t)
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "mcpserver"),
		"../examples/mcpserver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "mcp_servers.json"),
		[]byte(`{"mcpServers": {"off": {"command": "off", "disabled": true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("clients.md")
	if err != nil {
		t.Fatal(err)
	}
	started := 0
	for _, f := range fences(string(text)) {
		entry := tomlEntry.ReplaceAllString(f.text, `{"mcp_servers": {"$1": {"command": $2, "args": $3}}}`)
		switch {
		case f.kind == "json" && strings.HasPrefix(f.text, `{"tokens"`):
			tokens(t, f)
		case f.kind == "json" || f.kind == "toml":
			started++
			entry = strings.Replace(entry, `"mcp_servers"`, `"mcpServers"`, 1)
			start(t, f.line, strings.ReplaceAll(entry, "/path/to", filepath.ToSlash(dir)))
		}
	}
	if started != 6 {
		t.Errorf("%d entries were started", started)
	}
}

var placeholder = regexp.MustCompile(`…[^"]*`)

// tokens checks that a token file is refused as printed, so that nobody grants access by copying
// it, and accepted once its placeholders are filled in.
func tokens(t *testing.T, f fence) {
	if _, err := serve.Tokens([]byte(f.text)); err == nil {
		t.Errorf("line %d: the file would be accepted with its placeholders", f.line)
	}
	n := 0
	filled := placeholder.ReplaceAllStringFunc(f.text, func(string) string {
		n++
		return fmt.Sprintf("%064x", n)
	})
	if _, err := serve.Tokens([]byte(filled)); err != nil {
		t.Errorf("line %d: %v", f.line, err)
	}
}

func start(t *testing.T, line int, entry string) {
	config, err := mcptools.ParseConfig([]byte(entry), nil)
	if err != nil {
		t.Errorf("line %d: %v", line, err)
		return
	}
	servers, err := mcptools.Start(t.Context(), config, nil)
	if err != nil {
		t.Errorf("line %d: %v", line, err)
		return
	}
	defer servers.Close()
	all, err := servers.Tools(t.Context())
	if err != nil {
		t.Errorf("line %d: %v", line, err)
	}
	names := []string{}
	for _, tool := range all {
		names = append(names, tool.Namespace+"."+tool.Name)
	}
	if !slices.Contains(names, "writ.execute_code") {
		t.Errorf("line %d: the tools are %q; servers: %+v", line, names, servers.Status())
	}
	if strings.Contains(entry, "-allow-install") &&
		(!slices.Contains(names, "writ.install_dependencies") || !slices.Contains(names, "writ.run_task")) {
		t.Errorf("line %d: the tools are %q", line, names)
	}
}
