package vm

import (
	"math/rand/v2"
	"time"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// clock provides time and random numbers to the VM. The zero clock provides the real time and real random
// numbers.
type clock struct {
	pinned bool
	now    time.Time
	random *rand.Rand
}

// pin sets the clock of the VM for a program.
func (r *machine) pin(c *engine.Clock) {
	if c == nil {
		return
	}
	first := !r.clock.pinned
	r.clock = clock{
		pinned: true, now: time.UnixMilli(c.Start),
		random: rand.New(rand.NewPCG(uint64(c.Seed), 0)),
	}
	if first {
		r.vm.SetTimeSource(func() time.Time { return r.clock.now })
		r.vm.SetRandSource(goja.RandSource(func() float64 { return r.clock.random.Float64() }))
	}
}

// uint64 returns the next random number.
func (c *clock) uint64() uint64 {
	if c.random != nil {
		return c.random.Uint64()
	}
	return rand.Uint64()
}

// turn moves the clock forward to the real time, and returns the time in ms since 1970. It is called when the program
// is resumed.
func (c *clock) turn() int64 {
	if !c.pinned {
		return 0
	}
	if now := time.Now(); now.After(c.now) {
		c.now = now
	}
	return c.now.UnixMilli()
}

// set sets the clock to a recorded time.
func (c *clock) set(ms int64) { c.now = time.UnixMilli(ms) }
