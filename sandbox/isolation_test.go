package sandbox_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
)

// has reports whether this system provides full isolation.
const has = runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")

func TestIsolation(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(&sandbox.Options{MinIsolation: sandbox.Isolation{OwnProcess: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	got := box.Isolation()
	if !got.OwnProcess {
		t.Error(got)
	}
	if has {
		const all = "isolation: a process of its own, a cap on memory, no files, no network, no other processes, no " +
			"signals to others, no tracing, no shared memory, no executable memory\nby: "
		if !strings.HasPrefix(got.String(), all) {
			t.Error(got)
		}
	}
}

func TestMinIsolation(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(&sandbox.Options{MinIsolation: sandbox.FullIsolation()})
	if err == nil {
		defer box.Close()
	}
	if has && err != nil || !has && err == nil {
		t.Error(err)
	}
	if !has && !strings.HasPrefix(err.Error(),
		"sandbox: start worker: the required isolation is not available: it lacks ") {
		t.Error(err)
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
	const want = "lacking: a process of its own, a cap on memory, no files, no network, no other processes, no " +
		"signals to others, no tracing, no shared memory, no executable memory\ngaps: programs run in the host's own " +
		"process: use New instead of NewInProcess"
	if got := box.Isolation().String(); got != want {
		t.Error(got)
	}
	_, err = sandbox.NewInProcess(&sandbox.Options{MinIsolation: sandbox.Isolation{NoFiles: true}})
	const refusal = "sandbox: the required isolation is not available: it lacks no files: programs run in the " +
		"host's own process: use New instead of NewInProcess"
	if err == nil || err.Error() != refusal {
		t.Error(err)
	}
	if got := (*sandbox.Sandbox)(nil).Isolation(); got.OwnProcess {
		t.Error(got)
	}
}
