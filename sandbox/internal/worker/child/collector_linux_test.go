package child

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/writ-go/writ/sandbox/internal/worker/harden"
)

// TestCollector is not parallel: what it is about is the process's.
func TestCollector(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(Processors))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	const memory = 64 << 20
	has := func(when string, processors int, limit int64) {
		t.Helper()
		got := fmt.Sprint(runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1))
		if want := fmt.Sprint(processors, limit); got != want {
			t.Errorf("%s: %s processors and bytes, want %s", when, got, want)
		}
	}
	debug.SetMemoryLimit(harden.SoftLimit(memory))
	c := &collector{memory: memory, sample: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	small := func() {
		runtime.GC() // what other tests have left in pools is gone
		runtime.GC() // after the second
		c.cycle()
	}
	c.begin()
	small()
	has("a small run", Processors, harden.SoftLimit(memory))
	heap := make([]byte, memory/2+large)
	runtime.GC()
	c.cycle()
	runtime.KeepAlive(heap)
	has("a large run", min(Processors+1, max(Processors, runtime.NumCPU())), harden.SoftLimit(memory)+memory/relief)
	c.end()
	has("its end", Processors, harden.SoftLimit(memory))
	c.cycle()
	has("no run", Processors, harden.SoftLimit(memory))
	var none *collector
	none.begin() // nobody watches
	none.end()
}
