package sandbox

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// heap watches the memory of this process while programs run in it, and stops
// them when there is much more than when they began. It cannot tell who uses it,
// and not stop a native function: it is against accidents. What takes less than
// heapInterval it does not see, and does not burden.
type heap struct {
	limit int64 // bytes each program may add

	mu    sync.Mutex
	runs  map[*stuckable]struct{}
	base  int64 // bytes in use when they began, or soon after; 0 if it is not known yet
	armed bool
	quiet time.Time // when to look again, if what there was was garbage
}

const (
	heapInterval = 5 * time.Millisecond
	heapQuiet    = time.Second
)

// enter begins to watch a run.
func (h *heap) enter(run *stuckable) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.runs) == 0 {
		h.runs, h.base = map[*stuckable]struct{}{}, 0
	}
	h.runs[run] = struct{}{}
	h.arm()
}

// leave ends the watch of a run.
func (h *heap) leave(run *stuckable) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.runs, run)
}

func (h *heap) arm() {
	if !h.armed {
		h.armed = true
		time.AfterFunc(heapInterval, h.check)
	}
}

func (h *heap) check() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.armed = false
	if len(h.runs) == 0 {
		return
	}
	h.arm()
	if h.base == 0 {
		h.base = inUse()
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

func (h *heap) exceeded() bool { return inUse() > h.base+h.limit*int64(len(h.runs)) }

// inUse is how many bytes of the heap are in use, garbage included.
func inUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
