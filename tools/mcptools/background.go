package mcptools

import (
	"errors"
	"time"
)

// refresher keeps the listing of one server up to date, for [Options.Background].
type refresher struct {
	server *server
	stale  chan struct{} // holds a signal if the tools may have changed
	tried  chan struct{} // closed after the first attempt
	done   chan struct{} // closed when run has ended

	failures int           // number of consecutive failures
	pause    time.Duration // between a change that the server reports and the listing
	listed   time.Time     // when the last listing ended
}

func newRefresher(s *server) *refresher {
	return &refresher{
		server: s, stale: make(chan struct{}, 1), tried: make(chan struct{}), done: make(chan struct{}),
	}
}

// wake requests another listing. The refresher may be nil.
func (r *refresher) wake() {
	if r == nil {
		return
	}
	select {
	case r.stale <- struct{}{}:
	default: // a listing is already pending
	}
}

// run lists the tools until the server is closed.
func (r *refresher) run() {
	defer close(r.done)
	delay := r.list()
	close(r.tried)
	for r.sleep(delay) {
		delay = r.list()
	}
}

// list lists the tools. After a failure, it returns the delay before the next attempt; after a success, zero.
func (r *refresher) list() time.Duration {
	s := r.server
	changed, err := s.relist(s.life)
	r.listed = time.Now()
	if changed {
		s.notifications.reportChange()
	}
	if err == nil {
		r.failures = 0
		return 0
	}
	if early, ok := errors.AsType[*pauseError](err); ok {
		return max(early.RetryAfter(), time.Millisecond)
	}
	r.failures++
	return pause(r.failures)
}

// sleep waits until the tools should be listed again. It returns false if the server is closed.
func (r *refresher) sleep(delay time.Duration) bool {
	var due <-chan time.Time
	if delay > 0 {
		due = time.After(delay)
	}
	select {
	case <-r.server.life.Done():
		return false
	case <-due:
		return true
	case <-r.stale:
		return r.settle()
	}
}

// settle waits for further changes, so that one listing covers all of them. The pause grows if a server keeps reporting
// changes.
func (r *refresher) settle() bool {
	if time.Since(r.listed) < r.pause {
		r.pause = min(2*r.pause, lastPause)
	} else {
		r.pause = settleTime
	}
	select {
	case <-r.server.life.Done():
		return false
	case <-time.After(r.pause):
	}
	select {
	case <-r.stale:
	default:
	}
	return true
}
