package sandbox

import "github.com/writ-go/writ/internal/place"

// A call is parked while it waits only for decisions that may take longer than the process lives, and for nested runs
// that are at rest. A run is at rest while its program only waits for calls and all of these are parked. If no other
// run's call started it, it then ends with [place.ErrPaused].

// Park implements [place.Parker].
func (t *tracker) Park() {
	t.Leave()
	t.park(func() { t.decisions++ })
}

// Unpark implements [place.Parker].
func (t *tracker) Unpark() {
	t.park(func() { t.decisions-- })
	t.Return()
}

// park changes what the call waits for.
func (t *tracker) park(change func()) {
	h := t.host
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parked -= t.parked()
	change()
	h.parked += t.parked()
	h.rest()
}

// parked returns 1 if the call is parked, and otherwise 0.
func (t *tracker) parked() int {
	if !t.done && t.runs == t.resting && t.decisions+t.resting > 0 {
		return 1
	}
	return 0
}

// Waiting implements [engine.Host]. It returns at once, because the engine's lock is held.
func (h *host) Waiting(replies int) {
	go func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.idle = max(h.idle, replies)
		h.rest()
	}()
}

// Idle reports whether the program only waits for calls, and all of these have left their places: see [place.Idle].
func (t *tracker) Idle() bool {
	t.host.mu.Lock()
	defer t.host.mu.Unlock()
	return t.host.open == t.host.paused && t.host.idle == t.host.replied && !t.host.hasEnded()
}

// rest is called when something has changed that decides whether the run is at rest. The caller holds h.mu.
func (h *host) rest() {
	resting := h.open > 0 && h.open == h.parked && h.idle == h.replied && !h.over && !h.hasEnded()
	if resting == h.resting {
		return
	}
	h.resting = resting
	switch {
	case h.outer == nil:
		if resting {
			h.abortLocked(place.ErrPaused)
		}
	case resting:
		h.outer.park(func() { h.outer.resting++ })
	default:
		h.outer.park(func() { h.outer.resting-- })
	}
}
