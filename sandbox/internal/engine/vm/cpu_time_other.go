//go:build !linux && !darwin

package vm

import "time"

// cpuTime is the clock's time: what a program waits for its turn is computing.
func cpuTime() time.Duration { return elapsed() }
