package vm

import "time"

var processStart = time.Now()

// elapsed is the time since this process began, for systems that do not tell what it
// has taken of a processor.
func elapsed() time.Duration { return time.Since(processStart) }
