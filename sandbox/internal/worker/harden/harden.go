package harden

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// gcPercent lets garbage pile up, as the memory limit bounds it anyway:
	// collecting at 100 takes half the time of a run.
	gcPercent = 400
	// stackShare of the memory may be stack. A runaway recursion then ends as
	// what it is, not as a lack of memory.
	stackShare, maxStack = 4, 64 << 20
)

// configureRuntime is what hardens a worker on every system: nothing of the host's
// surroundings is left to see, and the runtime keeps to the budget.
func configureRuntime(memory int64) {
	startThreads()
	os.Clearenv()
	time.Local = time.UTC // or Date would open the zone's file
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(softLimit(memory * MemoryFactor))
	debug.SetMaxStack(int(min(memory/stackShare, maxStack)))
}

// spareThreads are more than a run with a second processor needs.
const spareThreads = 4

// startThreads starts threads that runs will need. The memory of their stacks, 8
// MB each where there is C, is then none of the program's.
func startThreads() {
	var started, ended sync.WaitGroup
	started.Add(spareThreads)
	for range spareThreads {
		ended.Go(func() {
			runtime.LockOSThread() // to one that no other has
			defer runtime.UnlockOSThread()
			started.Done()
			started.Wait()
		})
	}
	ended.Wait()
}

// softLimit is where the collector begins to work without rest. A program that
// makes garbage fast is ahead of it by tens of megabytes, and freed memory lies in
// pieces.
func softLimit(memory int64) int64 {
	const ahead = 48 << 20
	return max(memory-ahead, memory/2)
}

// gap is the reason why a wall is not to be had here, for which a worker starts
// all the same, and says so. Any other error is a reason not to begin.
type gap struct{ error }
