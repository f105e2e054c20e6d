package queue

// call is a call that has begun. It implements [place.Place].
type call struct {
	queue *Queue
	who   string
	waits int // how many of its programs wait for their tools
	over  bool
}

// Leave implements [place.Place].
func (c *call) Leave() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	if c.waits++; c.waits == 1 && !c.over {
		c.queue.vacate(c.who)
	}
}

// Return implements [place.Place]. It does not wait for room: the sandbox decides which of the running
// programs may compute.
func (c *call) Return() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	if c.waits--; c.waits == 0 && !c.over {
		c.queue.start(c.who)
	}
}

func (c *call) end() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.over = true
	if c.queue.begun[c.who]--; c.queue.begun[c.who] == 0 {
		delete(c.queue.begun, c.who)
	}
	if c.waits == 0 {
		c.queue.vacate(c.who)
	} else {
		c.queue.next()
	}
}
