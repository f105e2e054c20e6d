package child

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"

	"github.com/writ-go/writ/sandbox/internal/worker/harden"
)

// Processors is how many processors a worker uses at once. With one, a goroutine that
// has something for another hands it over without a system call. A run whose heap is
// large gets another; see [collector].
const Processors = 1

// large is a heap of which the collector is better seen to by a processor of its
// own, as it takes milliseconds to look through.
const large = 8 << 20

// relief is the part of its memory that a run gets in the end.
const relief = 10

// collector gives a run whose heap is large a second processor. Until then there is
// only one, see [Processors]; to change that stops the process for a moment, which
// a run that is so large doesn't notice.
//
// It also gives one that keeps most of its memory a part of what [SoftLimit] holds
// back: the collector would work without rest, and find nothing.
type collector struct {
	memory int64
	sample []metrics.Sample

	mu      sync.Mutex
	busy    bool // a run is in progress
	helped  bool // and has two processors
	relaxed bool // and more room
}

// newCollector begins to watch the collector. It is told of each cycle by an object
// that is garbage: that costs the runs nothing.
func newCollector(memory int64) *collector {
	c := &collector{memory: memory, sample: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	runtime.SetFinalizer(&garbage{c}, (*garbage).found)
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
	if !c.busy {
		return
	}
	metrics.Read(c.sample)
	live := int64(c.sample[0].Value.Uint64())
	if live > large && !c.helped && runtime.NumCPU() > Processors {
		c.helped = true
		runtime.GOMAXPROCS(Processors + 1)
	}
	if live > c.memory/2 && !c.relaxed {
		c.relaxed = true
		debug.SetMemoryLimit(harden.SoftLimit(c.memory) + c.memory/relief)
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
	if c.helped {
		runtime.GOMAXPROCS(Processors)
	}
	if c.relaxed {
		debug.SetMemoryLimit(harden.SoftLimit(c.memory))
	}
	c.busy, c.helped, c.relaxed = false, false, false
}
