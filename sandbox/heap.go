package sandbox

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// heap watches the memory of this process while programs run in it, and stops all programs when together they use too
// much. It cannot tell which program uses the memory, and it cannot stop a native function.
type heap struct {
	limit int64 // bytes that each program may add

	mu        sync.Mutex
	runs      map[*watchedHost]struct{}
	base      int64 // bytes in use at the first check after the first of these runs began; 0 before that check
	scheduled bool
	quiet     time.Time // check does nothing before this time, because the last garbage collection freed enough
}

const (
	heapInterval = 5 * time.Millisecond
	heapQuiet    = time.Second
)

func (h *heap) enter(run *watchedHost) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.runs) == 0 {
		h.runs, h.base = map[*watchedHost]struct{}{}, 0
	}
	h.runs[run] = struct{}{}
	h.schedule()
}

func (h *heap) leave(run *watchedHost) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.runs, run)
}

func (h *heap) schedule() {
	if !h.scheduled {
		h.scheduled = true
		time.AfterFunc(heapInterval, h.check)
	}
}

func (h *heap) check() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scheduled = false
	if len(h.runs) == 0 {
		return
	}
	h.schedule()
	if h.base == 0 {
		h.base = heapInUse()
	}
	if !h.exceeded() || time.Now().Before(h.quiet) {
		return
	}
	if runtime.GC(); !h.exceeded() {
		h.quiet = time.Now().Add(heapQuiet)
		return
	}
	for run := range h.runs {
		run.stop(engine.ErrMemory)
	}
}

func (h *heap) exceeded() bool { return heapInUse() > h.base+h.limit*int64(len(h.runs)) }

// heapInUse returns the number of heap bytes in use, including garbage.
func heapInUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
