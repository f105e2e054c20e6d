package vm

import "time"

var processStart = time.Now()

// elapsed returns the time since the process started, for systems that do not report
// processor time.
func elapsed() time.Duration { return time.Since(processStart) }
