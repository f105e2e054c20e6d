//go:build integration

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOwnAgentRealServer uses the filesystem server from npm, which .ci/run installs.
func TestOwnAgentRealServer(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("WRIT_NPM_DIR")
	if modules == "" {
		t.Fatal("WRIT_NPM_DIR is not set; run npm ci in a copy of .ci/npm and set it to the node_modules there")
	}
	try(t, `shift 2 && exec "`+filepath.Join(modules, ".bin", "mcp-server-filesystem")+`" "$@"`)
}
