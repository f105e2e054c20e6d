package sandbox

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// heap watches the memory of this process while programs run in it, and stops
// them when there is much more than when they began. It cannot tell who uses it,
// and not stop a native function: it is against accidents.
type heap struct {
	limit int64 // bytes each program may add

	mu    sync.Mutex
	runs  map[*guest]struct{}
	base  int64 // bytes in use when the first of them began
	timer *time.Timer
	quiet time.Time // when to look again, if what there was was garbage
}

// guest is a program that the heap's watch may stop.
type guest struct{ stop context.CancelCauseFunc }

const (
	heapInterval = 5 * time.Millisecond
	heapQuiet    = time.Second
)

// enter begins to watch a run. Its context ends with [engine.ErrMemory].
func (h *heap) enter(ctx context.Context) (context.Context, *guest) {
	ctx, stop := context.WithCancelCause(ctx)
	g := &guest{stop}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.runs) == 0 {
		h.runs, h.base = map[*guest]struct{}{}, inUse()
	}
	h.runs[g] = struct{}{}
	if h.timer == nil {
		h.timer = time.AfterFunc(heapInterval, h.check)
	} else if len(h.runs) == 1 {
		h.timer.Reset(heapInterval)
	}
	return ctx, g
}

// leave ends the watch of a run.
func (h *heap) leave(g *guest) {
	h.mu.Lock()
	delete(h.runs, g)
	if len(h.runs) == 0 {
		h.timer.Stop()
	}
	h.mu.Unlock()
	g.stop(context.Canceled)
}

func (h *heap) check() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.runs) == 0 {
		return
	}
	h.timer.Reset(heapInterval)
	if !h.exceeded() || time.Now().Before(h.quiet) {
		return
	}
	if runtime.GC(); !h.exceeded() {
		h.quiet = time.Now().Add(heapQuiet)
		return
	}
	for g := range h.runs {
		g.stop(engine.ErrMemory)
	}
}

func (h *heap) exceeded() bool { return inUse() > h.base+h.limit*int64(len(h.runs)) }

// inUse is how many bytes of the heap are in use, garbage included.
func inUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
