package child

import (
	"context"
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// growth measures how much memory this process has obtained from the system since newGrowth was called.
type growth struct {
	sample []metrics.Sample
	start  uint64
	limit  uint64
}

// newGrowth returns a growth whose limit is a quarter of the memory, but at least the 48 MiB that any worker
// takes, and at most half of the memory. The runtime never returns address space, and its free part may be too
// fragmented for the next program.
func newGrowth(memory int64) *growth {
	g := &growth{
		sample: []metrics.Sample{{Name: "/memory/classes/total:bytes"}},
		limit:  uint64(min(max(memory/4, 48<<20), memory/2)),
	}
	g.start = g.total()
	return g
}

// total returns the memory that the runtime has obtained from the system, even if it has been released since.
func (g *growth) total() uint64 {
	metrics.Read(g.sample)
	return g.sample[0].Value.Uint64()
}

// exceeded reports whether too little memory is left for another program.
func (g *growth) exceeded() bool { return g != nil && g.total() > g.start+g.limit }

// watchInterval is how often the heap is measured. In that time a program allocates a
// few megabytes.
const watchInterval = 2 * time.Millisecond

// watched returns a Run that ends the process when the heap exceeds the limit. It is for systems that do not
// limit memory. A program that allocates in many steps is stopped before the system runs short. A program that
// allocates everything at once is stopped only after the allocation.
func watched(run Run, limit int64) Run {
	return func(ctx context.Context, job *engine.Job, host engine.Host) *engine.Result {
		over := make(chan struct{})
		defer close(over)
		go watch(uint64(limit), over)
		return run(ctx, job, host)
	}
}

func watch(limit uint64, over <-chan struct{}) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
		}
		metrics.Read(sample)
		if used := sample[0].Value.Uint64(); used > limit {
			fmt.Fprintf(os.Stderr, "writ worker: out of memory: %d bytes in use, the limit is %d\n", used, limit)
			leave(StatusFailed)
		}
	}
}
