package sandbox

import (
	"context"

	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/sandbox/internal/engine"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
)

// enter waits until a slot is free or the program ends.
func (t *tracker) enter() {
	select {
	case t.host.slots <- struct{}{}:
		t.holds = true
	case <-t.host.goroutines.done:
	}
}

func (t *tracker) free() {
	if t.holds {
		<-t.host.slots
		t.holds = false
	}
}

// end is called when the call has ended.
func (t *tracker) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.free()
	t.park(func() { t.done = true })
	t.host.pause(-1, -min(t.waits, 1))
}

// Leave implements [place.Place].
func (t *tracker) Leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waits++; t.waits == 1 && !t.over {
		t.free()
		t.host.pause(0, 1)
	}
}

// Return implements [place.Place].
func (t *tracker) Return() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waits--; t.waits == 0 && !t.over {
		t.host.pause(0, -1)
		t.enter()
	}
}

// pause adds to the number of calls in progress, and to the number of calls that wait for a person or a nested run. It
// stops or starts the clocks accordingly.
func (h *host) pause(open, paused int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.open > 0 && h.open == h.paused
	h.open += open
	h.paused += paused
	if still := h.open > 0 && h.open == h.paused; still != was {
		h.clock.SetStill(still)
	}
	h.rest()
}

// Clock implements [engine.Host].
func (h *host) Clock(c engine.RunClock) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock = c
}

// nested makes the tool call that started a run leave its slot until done is called. If no tool
// call started the run, nested does nothing.
func nested(ctx context.Context) (done func()) {
	call, ok := place.Find[*tracker](ctx)
	if !ok {
		return func() {}
	}
	call.Leave()
	call.park(func() { call.runs++ })
	return func() {
		call.park(func() { call.runs-- })
		call.Return()
	}
}

// newTicket returns the ticket of a run with this context, which the given call started.
func newTicket(ctx context.Context, call *tracker) *workers.Ticket {
	p := place.Of(ctx)
	switch {
	case call == nil:
		return workers.NewTicket(nil, p)
	case p == call:
		p = nil
	}
	return workers.NewTicket(call.host.ticket, p)
}
