package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Without a limit, workers that fail to start one after the other would keep the
// machine busy. What programs do to their workers does not count as a failure.
const (
	freeFailures  = 3 // consecutive failures before the pool waits
	firstInterval = 100 * time.Millisecond
	lastInterval  = 10 * time.Second
)

// ErrCannotStart is returned by [Pool.Run] while the pool waits before it tries again
// to start a worker. The message includes what the last worker wrote.
var ErrCannotStart = errors.New("workers cannot be started")

// starter starts workers and backs off if they fail.
type starter struct {
	start func(context.Context) (*instance, error)

	mu       sync.Mutex
	failures int // since a worker last did anything
	err      error
	next     time.Time // when to try again
}

// instance starts a worker, or returns [ErrCannotStart].
func (s *starter) instance(ctx context.Context) (*instance, error) {
	if err := s.allowed(); err != nil {
		return nil, err
	}
	w, err := s.start(ctx)
	if err != nil && ctx.Err() == nil {
		s.failed(err)
	}
	return w, err
}

// allowed returns nil if the caller, and no other goroutine, may start a worker now.
func (s *starter) allowed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures < freeFailures {
		return nil
	}
	if wait := time.Until(s.next); wait > 0 {
		return fmt.Errorf("%w: %d failed in a row, the next try is in %v; the last error: %w",
			ErrCannotStart, s.failures, wait.Round(time.Millisecond), s.err)
	}
	s.next = time.Now().Add(s.interval())
	return nil
}

// failed records a worker that never did anything.
func (s *starter) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	s.err = err
	s.next = time.Now().Add(s.interval())
}

// worked records a worker that did something.
func (s *starter) worked() {
	s.mu.Lock()
	s.failures = 0
	s.mu.Unlock()
}

// interval returns how long to wait. It doubles with each failure.
func (s *starter) interval() time.Duration {
	d := firstInterval
	for i := freeFailures; i < s.failures && d < lastInterval; i++ {
		d *= 2
	}
	return min(d, lastInterval)
}
