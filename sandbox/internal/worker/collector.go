package worker

import (
	"runtime"
	"runtime/metrics"
	"sync"
)

// large is a heap of which the collector is better seen to by a processor of its
// own, as it takes milliseconds to look through.
const large = 8 << 20

// collector gives a run whose heap is large a second processor. Until then there is
// only one, see [processors]; to change that stops the process for a moment, which
// a run that is so large doesn't notice.
type collector struct {
	sample []metrics.Sample

	mu     sync.Mutex
	busy   bool // a run is in progress
	helped bool // and has two processors
}

// newCollector begins to watch the collector. It is told of each cycle by an object
// that is garbage: that costs the runs nothing.
func newCollector() *collector {
	c := &collector{sample: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	if runtime.NumCPU() > processors {
		runtime.SetFinalizer(&garbage{c}, (*garbage).found)
	}
	return c
}

// garbage is found in each cycle.
type garbage struct{ of *collector }

func (g *garbage) found() {
	g.of.cycle()
	runtime.SetFinalizer(g, (*garbage).found)
}

// cycle is called when the collector has looked through the heap.
func (c *collector) cycle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.busy || c.helped {
		return
	}
	if metrics.Read(c.sample); c.sample[0].Value.Uint64() > large {
		c.helped = true
		runtime.GOMAXPROCS(processors + 1)
	}
}

// begin is called when a run begins.
func (c *collector) begin() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = true
}

// end is called when it has ended.
func (c *collector) end() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy = false; c.helped {
		c.helped = false
		runtime.GOMAXPROCS(processors)
	}
}
