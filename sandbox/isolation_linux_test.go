//go:build integration

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A binary of every build mode has full isolation.
func TestBuildModes(t *testing.T) {
	const program = "./testdata/isolated"
	for _, mode := range []struct {
		name  string
		cgo   string
		flags []string
	}{
		{"pure Go", "0", nil},
		{"stripped", "0", []string{"-ldflags=-s -w"}},
		{"cgo", "1", nil},
		{"pie", "1", []string{"-buildmode=pie"}},
		{"race", "1", []string{"-race"}},
		{"cover", "0", []string{"-cover"}},
	} {
		t.Run(mode.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "isolated")
			command(t, mode.cgo, "go", append(append([]string{"build", "-o", file}, mode.flags...), program)...)
			mustBeIsolated(t, mode.cgo, command(t, mode.cgo, file))
		})
	}
	t.Run("go run", func(t *testing.T) {
		mustBeIsolated(t, "0", command(t, "0", "go", "run", program))
	})
}

func command(t *testing.T, cgo, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo, "GOCOVERDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}

func mustBeIsolated(t *testing.T, cgo, got string) {
	t.Helper()
	const all = `588890
isolation: a process of its own, a cap on memory, no files, no network, no other processes, no signals to others, no tracing, no shared memory, no executable memory
by: `
	if rest, ok := strings.CutPrefix(got, all); !ok || !strings.Contains(rest, "seccomp") {
		t.Errorf("got\n%s", got)
	}
	// Other properties depend on the kernel, especially with C's threads.
	t.Logf("cgo %s: %s", cgo, got[strings.Index(got, "\nby: ")+1:])
}
