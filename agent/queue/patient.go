package queue

import (
	"context"
	"fmt"
	"time"
)

// Go calls f in a new goroutine once it is the principal's turn; who is its name. Until then, there is no goroutine
// and no limit on the time or the number of calls: it is for work that is recorded elsewhere, so that it can wait even
// if the process ends. Once the queue stops, f is never called; if it has already stopped, Go returns an error that
// wraps [ErrStopped]. As with [Queue.Do], f's context is canceled when the queue stops.
//
// The function leave gives up waiting. It returns false if f has been called.
func (q *Queue) Go(who string, f func(context.Context) error) (leave func() bool, err error) {
	began := time.Now()
	w := &waiter{begin: func() {
		q.patient--
		q.calls.Go(func() { _ = q.run(context.Background(), who, began, f) })
	}}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed.Err() != nil {
		return nil, fmt.Errorf("%w; nothing was done", ErrStopped)
	}
	q.patient++
	q.add(who, w)
	q.next()
	return func() bool { return !q.quit(who, w) }, nil
}

// refuse calls end, after which no new call begins, and removes the calls from Go.
func (q *Queue) refuse(end func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	end()
	for _, l := range q.lines {
		l.waiters = l.impatient()
	}
	q.waiting, q.patient = q.waiting-q.patient, 0
	q.dropEmptyLines()
}
