//go:build integration

package imports_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/agent/codemode/internal/imports"
)

// TestRealPackages runs programs that use real packages from npm, here and in Node.js, which
// must give the same results. Each program is a file in testdata/packages.txtar, whose last
// expression is its value.
func TestRealPackages(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("WRIT_BUNDLES_DIR")
	if modules == "" {
		t.Fatal("WRIT_BUNDLES_DIR is not set; run npm ci in a copy of .ci/bundles and set it to that folder")
	}
	archive, err := txtar.ParseFile("testdata/packages.txtar")
	if err != nil || len(archive.Files) < 8 {
		t.Fatal("too few programs", err)
	}
	b, box := open(t)
	c := b.With(imports.New(os.DirFS(filepath.Join(modules, "node_modules")), []string{"lodash-es", "date-fns", "zod", "yaml", "papaparse", "marked"}, nil))
	for _, f := range archive.Files {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			source := strings.TrimSpace(string(f.Data))
			got, want := result(t, box, c, source), inNode(t, modules, f.Name, source)
			var here, there any
			if err := json.Unmarshal([]byte(got), &here); err != nil {
				t.Fatalf("here it ends with\n%s", got)
			}
			if err := json.Unmarshal(want, &there); err != nil {
				t.Fatalf("in node it gives %s", want)
			}
			if !reflect.DeepEqual(here, there) {
				t.Errorf("here it gives\n%s\nin node\n%s", got, want)
			}
		})
	}
}

// inNode runs a program in Node.js and returns the value of its last statement as JSON. The
// statement is an expression and begins after the last empty line.
func inNode(t *testing.T, modules, name, source string) []byte {
	t.Helper()
	last := strings.LastIndex(source, "\n\n") + 2
	text := source[:last] + "\nconsole.log(JSON.stringify(" + strings.TrimSuffix(source[last:], ";") + "))"
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--preserve-symlinks", file)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	return out
}
