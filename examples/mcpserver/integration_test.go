//go:build integration

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/writ-go/writ/internal/testserver"
)

// TestInspector drives the server by a real client, the inspector's command
// line, over the filesystem server from npm: a program that reads several files,
// adds them up and writes one. .ci/run installs both.
func TestInspector(t *testing.T) {
	modules := os.Getenv("WRIT_NPM_DIR")
	if modules == "" {
		t.Fatal("WRIT_NPM_DIR is not set; run npm ci in a copy of .ci/npm and set it to the node_modules there")
	}
	_, folder := config(t)
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := testserver.WriteConfig(t.TempDir(), map[string]any{
		"fs": map[string]any{"command": filepath.Join(modules, ".bin", "mcp-server-filesystem"), "args": []string{folder}},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(t.TempDir(), "mcpserver")
	if out, err := exec.Command("go", "build", "-o", server, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := `const dir = ` + quote(folder) + `;
const { content } = await fs.list_directory({ path: dir });
const names = content.split("\n").map(line => line.replace("[FILE] ", ""));
const texts = await Promise.all(names.map(name => fs.read_text_file({ path: dir + "/" + name })));
const sum = texts.reduce((sum, r) => sum + Number(r.content), 0);
await fs.write_file({ path: dir + "/sum.txt", content: String(sum) });
({ files: names.length, sum })`
	inspector := exec.Command("node", "index.js", server, "-config", servers,
		"--method", "tools/call", "--tool-name", "execute_code", "--tool-arg", "code="+program)
	// It looks for its package.json relative to the working directory.
	inspector.Dir = filepath.Join(modules, "@modelcontextprotocol", "inspector-cli", "build")
	inspector.Stderr = t.Output()
	out, err := inspector.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var result struct {
		StructuredContent execution `json:"structuredContent"`
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var value struct{ Files, Sum int }
	e := result.StructuredContent
	if err := json.Unmarshal(e.Result, &value); err != nil || !e.Success || value.Files != 2 || value.Sum != 7 ||
		len(e.Calls) != 4 {
		t.Errorf("got %s", out)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "sum.txt")); err != nil || string(text) != "7" {
		t.Errorf("sum.txt holds %q (%v), want 7", text, err)
	}
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}
