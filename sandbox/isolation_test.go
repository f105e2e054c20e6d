package sandbox_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
)

// has reports whether this system provides full isolation.
const has = runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")

const properties = "a process of its own, a cap on memory, no files, no network, no other processes, no " +
	"signals to others, no tracing, no shared memory, no executable memory\n"

func TestIsolation(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(&sandbox.Options{FullIsolation: true})
	if !has {
		if err == nil || !strings.HasPrefix(err.Error(),
			"sandbox: start worker: the required isolation is not available; not in force: ") {
			t.Error(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if got := box.Isolation(); !strings.HasPrefix(got, "isolation: "+properties+"by: ") {
		t.Error(got)
	}
}

// In process there is no isolation.
func TestNoIsolation(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	const gap = "programs run in the host's own process: use New instead of NewInProcess"
	if got := box.Isolation(); got != "not in force: "+properties+"gaps: "+gap {
		t.Error(got)
	}
	_, err = sandbox.NewInProcess(&sandbox.Options{FullIsolation: true})
	want := "sandbox: the required isolation is not available; not in force: " +
		properties[:len(properties)-1] + ": " + gap
	if err == nil || err.Error() != want {
		t.Error(err)
	}
	if got := (*sandbox.Sandbox)(nil).Isolation(); got != "" {
		t.Error(got)
	}
}
