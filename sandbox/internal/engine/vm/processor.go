package vm

import "time"

var began = time.Now()

// wall is the time since this process began, for systems that do not tell what it
// has taken of a processor.
func wall() time.Duration { return time.Since(began) }
