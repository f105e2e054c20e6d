package sandbox

import (
	"context"
	"sync"

	"github.com/writ-go/writ/internal/place"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
)

// callPlace is one of the Limits.Concurrency places for concurrent calls of a program. A call leaves its place
// while it waits for a person, or for a nested run, which has limits of its own. While all calls in progress
// have left their places, the clocks of the program stand still.
type callPlace struct {
	host *host

	mu    sync.Mutex
	has   bool // the call occupies the place
	over  bool // the call has ended
	waits int  // how many persons and nested runs the call waits for
}

// enter waits for a place, or for the end of the program.
func (c *callPlace) enter() {
	select {
	case c.host.slots <- struct{}{}:
		c.has = true
	case <-c.host.goroutines.done:
	}
}

func (c *callPlace) free() {
	if c.has {
		<-c.host.slots
		c.has = false
	}
}

// end is called when the call has ended.
func (c *callPlace) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.free()
	c.host.pause(-1, -min(c.waits, 1))
}

// Leave implements [place.Place].
func (c *callPlace) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits++; c.waits == 1 && !c.over {
		c.free()
		c.host.pause(0, 1)
	}
}

// Return implements [place.Place].
func (c *callPlace) Return() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits--; c.waits == 0 && !c.over {
		c.host.pause(0, -1)
		c.enter()
	}
}

// pause changes the number of calls in progress and the number of calls that wait for a person
// or a nested run, and stops or starts the clocks accordingly.
func (h *host) pause(open, paused int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.open > 0 && h.open == h.paused
	h.open += open
	h.paused += paused
	if still := h.open > 0 && h.open == h.paused; still != was {
		h.still(still)
	}
}

// Clock implements [engine.Host].
func (h *host) Clock(still func(bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.still = still
}

// nested makes the tool call that started a run leave its place until done is called. If no tool
// call started the run, nested does nothing.
func nested(ctx context.Context) (done func()) {
	if call, ok := place.Find[*callPlace](ctx); ok {
		call.Leave()
		return call.Return
	}
	return func() {}
}

// newTicket returns the ticket of a run with this context.
func newTicket(ctx context.Context) *workers.Ticket {
	p := place.Of(ctx)
	call, ok := place.Find[*callPlace](ctx)
	switch {
	case !ok:
		return workers.NewTicket(nil, p)
	case p == call:
		p = nil
	}
	return workers.NewTicket(call.host.ticket, p)
}
