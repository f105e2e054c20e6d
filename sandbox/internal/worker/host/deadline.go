package host

import (
	"sync"
	"time"
)

// deadline is a timer that can be paused. A nil deadline never passes.
type deadline struct {
	mu     sync.Mutex
	timer  *time.Timer
	end    time.Time
	paused bool
	left   time.Duration // when it was paused
}

// newDeadline returns a deadline that calls f after d.
func newDeadline(d time.Duration, f func()) *deadline {
	return &deadline{timer: time.AfterFunc(d, f), end: time.Now().Add(d)}
}

// pause pauses or continues the deadline.
func (d *deadline) pause(yes bool) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case yes && !d.paused && d.timer.Stop():
		d.paused, d.left = true, time.Until(d.end)
	case !yes && d.paused:
		d.paused, d.end = false, time.Now().Add(d.left)
		d.timer.Reset(d.left)
	}
}

// stop ends the deadline, and reports whether it has not passed.
func (d *deadline) stop() bool {
	if d == nil {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.timer.Stop() || d.paused
}
