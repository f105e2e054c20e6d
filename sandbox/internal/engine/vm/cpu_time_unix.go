//go:build linux || darwin

package vm

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the time of processors that this process has taken.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return elapsed()
	}
	return time.Duration(t.Nano())
}
