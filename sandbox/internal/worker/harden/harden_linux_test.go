package harden

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/writ-go/writ/sandbox/internal/worker"
)

// TestGap checks that only a layer that the kernel lacks may be missing.
func TestGap(t *testing.T) {
	t.Parallel()
	var i worker.Isolation
	if err := addLayer(&i, "a", func() error {
		return unavailable(named("x",
			unix.EINVAL))
	}); err == nil || err.Error() != "a: x: invalid argument" {
		t.Error(err)
	}
	if err := addLayer(&i, "b", func() error { return unavailable(named("x", unix.EPERM)) }); err != nil {
		t.Error(err)
	}
	if err := addLayer(&i, "c", func() error { return unavailableError{errors.New("no")} }); err != nil {
		t.Error(err)
	}
	if err := addLayer(&i, "d", func() error { return nil }); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(i.Layers,
		i.Gaps); got != "[d] [b is not in force (x: operation not permitted) c is not in force (no)]" {
		t.Error(got)
	}
}
