package serve

import "sync"

// tally counts what runs, until nothing more may begin.
type tally struct {
	mu      sync.Mutex
	running int
	stopped bool
	none    chan struct{} // closed when nothing more may begin and nothing runs
}

func newTally() *tally { return &tally{none: make(chan struct{})} }

// begin reports whether something may still begin, which then has to end.
func (t *tally) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stopped {
		t.running++
	}
	return !t.stopped
}

func (t *tally) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running--; t.running == 0 && t.stopped {
		close(t.none)
	}
}

func (t *tally) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stopped && t.running == 0 {
		close(t.none)
	}
	t.stopped = true
}

func (t *tally) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running
}

func (t *tally) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}
