package host

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
	"github.com/writ-go/writ/sandbox/internal/worker/child"
)

// TestBusyMachine runs a program whose worker seldom gets a processor. The time that it waits for
// one does not count as computing time.
func TestBusyMachine(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Kind: child.Sandbox, Max: 1})
	pid := p.idle[0].cmd.Process.Pid
	j := job(`const end = Date.now() + 1000; while (Date.now() < end); "done"`)
	j.Limits.Time, j.Limits.Compute = 2*time.Minute, 700*time.Millisecond
	ended, busy := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(busy)
		for {
			_ = unix.Kill(pid, unix.SIGSTOP)
			time.Sleep(190 * time.Millisecond)
			_ = unix.Kill(pid, unix.SIGCONT)
			select {
			case <-ended:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	res, err := p.Run(t.Context(), nil, j, &enginetest.Host{})
	close(ended)
	<-busy
	if err != nil || res.Failure != nil || string(res.Value) != `"done"` {
		t.Errorf("%+v (%v), %v", res, res.Failure, err)
	}
	if res != nil && (res.Computed <= 0 || res.Computed > j.Limits.Compute) {
		t.Errorf("the computing time is %v", res.Computed)
	}
}
