//go:build linux || darwin

package vm

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) // every process has this clock
	return time.Duration(t.Nano())
}
