package mcptools

import (
	"errors"
	"time"
)

// keeper keeps the listing of one server up to date, as [Options.Background]
// says.
type keeper struct {
	server *server
	stale  chan struct{} // holds one signal: the tools may have changed
	tried  chan struct{} // closed after the first attempt
	done   chan struct{} // closed when the keeper has ended

	failures int           // in a row
	pause    time.Duration // before the next listing that the server asks for
	listed   time.Time
}

func newKeeper(s *server) *keeper {
	return &keeper{server: s, stale: make(chan struct{}, 1), tried: make(chan struct{}), done: make(chan struct{})}
}

// wake asks for another listing. It may be called on a nil keeper.
func (k *keeper) wake() {
	if k == nil {
		return
	}
	select {
	case k.stale <- struct{}{}:
	default: // the listing to come covers it
	}
}

// run ends with the life of the server.
func (k *keeper) run() {
	defer close(k.done)
	delay := k.list()
	close(k.tried)
	for k.sleep(delay) {
		delay = k.list()
	}
}

// list lists the tools once and returns when to do so again by itself; zero means
// never.
func (k *keeper) list() time.Duration {
	s := k.server
	changed, err := s.relist(s.life)
	k.listed = time.Now()
	if changed {
		s.notices.tellChanged()
	}
	if err == nil {
		k.failures = 0
		return 0
	}
	if early, ok := errors.AsType[*waitError](err); ok {
		return max(early.RetryAfter(), time.Millisecond)
	}
	k.failures++
	return wait(k.failures)
}

// sleep waits until the tools should be listed again, and reports whether the
// server still lives.
func (k *keeper) sleep(delay time.Duration) bool {
	var due <-chan time.Time
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-k.server.life.Done():
		return false
	case <-due:
		return true
	case <-k.stale:
		return k.settle()
	}
}

// settle waits for more changes of the tools, so that one listing covers them
// all. A server that always has more is listed ever less often.
func (k *keeper) settle() bool {
	if time.Since(k.listed) < k.pause {
		k.pause = min(2*k.pause, lastWait)
	} else {
		k.pause = settleTime
	}
	timer := time.NewTimer(k.pause)
	defer timer.Stop()
	select {
	case <-k.server.life.Done():
		return false
	case <-timer.C:
	}
	select {
	case <-k.stale:
	default:
	}
	return true
}
