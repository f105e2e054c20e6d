package child

import (
	"context"
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// glance is how often the heap is looked at. In that time a program fills a few
// megabytes.
const glance = 2 * time.Millisecond

// watched runs programs under an eye on the heap, which ends the process when it
// exceeds the limit. It is for systems that don't limit memory themselves: a
// program that allocates step by step is ended in time, one that allocates it all
// at once only if the system has let it.
func watched(run Run, limit int64) Run {
	return func(ctx context.Context, job *engine.Job, host engine.Host) *engine.Result {
		over := make(chan struct{})
		defer close(over)
		go watch(uint64(limit), over)
		return run(ctx, job, host)
	}
}

// watch ends the process when the heap exceeds the limit.
func watch(limit uint64, over <-chan struct{}) {
	ticker := time.NewTicker(glance)
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
			fmt.Fprintf(os.Stderr, "writ worker: out of memory: %d bytes, %d are allowed\n", used, limit)
			leave(StatusFailed)
		}
	}
}
