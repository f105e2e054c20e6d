package harden

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// gcPercent is high because the memory limit bounds the garbage anyway: with the
	// default, the collector takes half the time of a run.
	gcPercent = 400
	// stackShare limits the stack to 1/stackShare of the memory, and maxStack limits it in bytes. An infinite
	// recursion then ends with a stack overflow and not with a lack of memory.
	stackShare, maxStack = 4, 64 << 20
)

// configureRuntime does what is possible on every system: it removes the environment and sets the Go runtime's limits.
func configureRuntime(memory int64) {
	startThreads()
	os.Clearenv()
	time.Local = time.UTC // otherwise Date would read the time zone file
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(softLimit(memory * MemoryFactor))
	debug.SetMaxStack(int(min(memory/stackShare, maxStack)))
}

// spareThreads is the number of threads to start in advance, more than a run needs.
const spareThreads = 4

// startThreads starts threads before memory is limited, so that their stacks, which have
// 8 MB each in a program with cgo, do not count against the program's memory.
func startThreads() {
	var started, ended sync.WaitGroup
	started.Add(spareThreads)
	for range spareThreads {
		ended.Go(func() {
			runtime.LockOSThread() // so that each goroutine needs its own thread
			defer runtime.UnlockOSThread()
			started.Done()
			started.Wait()
		})
	}
	ended.Wait()
}

// softLimit returns the runtime's memory limit. It is lower than the hard limit, because a program can produce
// tens of megabytes of garbage before the collector frees them, and because free memory is fragmented.
func softLimit(memory int64) int64 {
	return max(memory-48<<20, memory/2)
}

// unavailableError is the reason why this system does not offer a layer of isolation. The worker then runs
// without the layer. After any other error, the worker does not start.
type unavailableError struct{ error }
