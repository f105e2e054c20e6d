package serve

import (
	"context"
	"slices"
)

// call is a call that has begun. It implements [place.Place].
type call struct {
	queue *Queue
	who   string
	ctx   context.Context
	runs  bool // otherwise it is paused, or over
	over  bool
	turn  chan struct{} // closed when the call may go on
}

// Leave implements [place.Place].
func (c *call) Leave() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.free()
}

// free gives up the call's place, if it has one.
func (c *call) free() {
	if c.runs {
		c.runs = false
		c.queue.vacate(c.who)
	}
}

// Return implements [place.Place].
func (c *call) Return() {
	c.queue.mu.Lock()
	c.turn = make(chan struct{})
	if !c.over {
		c.queue.paused = append(c.queue.paused, c)
		c.queue.next()
	}
	c.queue.mu.Unlock()
	select {
	case <-c.turn:
	case <-c.ctx.Done():
	}
}

// end ends the call.
func (c *call) end() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.queue.paused = slices.DeleteFunc(c.queue.paused, func(p *call) bool { return p == c })
	c.over = true
	c.free()
}
