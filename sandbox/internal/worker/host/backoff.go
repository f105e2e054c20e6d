package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Workers that can't start, one after the other, would keep a machine busy with
// starting them. What programs do to their workers doesn't count.
const (
	patience      = 3 // how many may fail in a row before the next has to wait
	firstInterval = 100 * time.Millisecond
	lastInterval  = 10 * time.Second
)

// ErrCannotStart is returned by [Pool.Run] at once, while the pool waits before
// it tries again to start a worker. The message says what the last one wrote.
var ErrCannotStart = errors.New("workers can't be started")

// starter starts workers, and waits longer and longer between those that fail.
type starter struct {
	start func(context.Context) (*instance, error)

	mu       sync.Mutex
	failures int // since the last worker that did anything
	err      error
	next     time.Time // when to try again
}

// worker starts one, or says why none may be started now.
func (s *starter) worker(ctx context.Context) (*instance, error) {
	if err := s.allowed(); err != nil {
		return nil, err
	}
	w, err := s.start(ctx)
	if err != nil && ctx.Err() == nil {
		s.failed(err)
	}
	return w, err
}

// allowed says whether it is time for another try, which is then this one.
func (s *starter) allowed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures < patience {
		return nil
	}
	if wait := time.Until(s.next); wait > 0 {
		return fmt.Errorf("%w: %d failed in a row, the next try is in %v; the last: %w",
			ErrCannotStart, s.failures, wait.Round(time.Millisecond), s.err)
	}
	s.next = time.Now().Add(s.interval())
	return nil
}

// failed notes a worker that never came to do anything.
func (s *starter) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	s.err = err
	s.next = time.Now().Add(s.interval())
}

// worked notes a worker that did something.
func (s *starter) worked() {
	s.mu.Lock()
	s.failures = 0
	s.mu.Unlock()
}

// interval doubles with each failure.
func (s *starter) interval() time.Duration {
	d := firstInterval
	for i := patience; i < s.failures && d < lastInterval; i++ {
		d *= 2
	}
	return min(d, lastInterval)
}
