package child

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// watchEnv makes the test binary run a program that exceeds its limit of memory.
const watchEnv = "WRIT_TEST_WATCH"

func TestMain(m *testing.M) {
	if os.Getenv(watchEnv) != "" {
		watched(hold, 32<<20)(context.Background(), nil, nil)
		return
	}
	os.Exit(m.Run())
}

// hold keeps 64 MiB, which the system allows.
func hold(context.Context, *engine.Job, engine.Host) *engine.Result {
	kept := make([]byte, 64<<20)
	time.Sleep(endTime)
	runtime.KeepAlive(kept)
	return &engine.Result{}
}

// TestWatch runs a process that exceeds the limit that is enforced on systems without a memory cap.
func TestWatch(t *testing.T) {
	t.Parallel()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), watchEnv+"=1")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != StatusFailed || !strings.Contains(string(out), "out of memory") {
		t.Errorf("%v: %s", cmd.ProcessState, out)
	}
}
