//go:build integration

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTaskRealServer does the task of TestTask with the filesystem server from npm, which .ci/run
// installs.
func TestTaskRealServer(t *testing.T) {
	modules := os.Getenv("WRIT_NPM_DIR")
	if modules == "" {
		t.Fatal("WRIT_NPM_DIR is not set; run npm ci in a copy of .ci/npm and set it to the node_modules there")
	}
	dir, err := filepath.EvalSymlinks(files(t))
	if err != nil {
		t.Fatal(err)
	}
	config := writeConfig(t, map[string]any{
		"fs": map[string]any{"command": filepath.Join(modules, ".bin", "mcp-server-filesystem"), "args": []string{dir}},
	})
	newOpenAI(t, aggregate(dir+"/", "r.content"))
	addUp(t, config, dir)
}

// TestApprovalRealServer pauses at a destructive call of the filesystem server from npm. A person approves the call,
// and another process makes it, once.
func TestApprovalRealServer(t *testing.T) {
	modules := os.Getenv("WRIT_NPM_DIR")
	if modules == "" {
		t.Fatal("WRIT_NPM_DIR is not set; run npm ci in a copy of .ci/npm and set it to the node_modules there")
	}
	dir, err := filepath.EvalSymlinks(files(t))
	if err != nil {
		t.Fatal(err)
	}
	config := writeConfig(t, map[string]any{
		"fs": map[string]any{"command": filepath.Join(modules, ".bin", "mcp-server-filesystem"), "args": []string{dir}},
	})
	model := newOpenAI(t, fmt.Sprintf("```js\nconst before = await fs.list_directory({path: %q});\n"+
		"await fs.write_file({path: %q, content: 'x'});\nsubmit({answer: 'written'})\n```", dir, dir+"/new"))
	flags := []string{"-trust", "fs", "-journal", t.TempDir(), "-config", config, "-model", "openai:stub"}
	code, _, stderr := process(t, append(flags, "Write a file.")...)
	id := resumes.FindStringSubmatch(stderr)
	if code != 3 || id == nil || !strings.Contains(stderr, "fs.write_file") {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	if _, err := os.Stat(dir + "/new"); err == nil {
		t.Fatal("the file was written without approval")
	}
	var out, errs bytes.Buffer
	code = command(t.Context(), resume(flags, id[1]), strings.NewReader("y\n"), &out, &errs)
	if text, err := os.ReadFile(dir + "/new"); code != 0 || out.String() != "written\n" || string(text) != "x" {
		t.Errorf("code %d, stdout %q; the file has %q (%v)\n%s", code, &out, text, err, &errs)
	}
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}
