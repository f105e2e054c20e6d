//go:build !linux && !darwin

package vm

import "time"

// processor is the clock's time: what a program waits for its turn is computing.
func processor() time.Duration { return wall() }
