//go:build !linux && !darwin

package vm

import "time"

var processStart = time.Now()

// cpuTime returns the elapsed time, which includes the time in which the process was not scheduled.
func cpuTime() time.Duration { return time.Since(processStart) }
