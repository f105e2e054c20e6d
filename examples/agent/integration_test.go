//go:build integration

package main

import (
	"os"
	"path/filepath"
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
