// Package queue has an unbounded queue, to which adding never blocks.
package queue

import "sync"

// Queue holds elements until they are read.
type Queue[T any] struct {
	mu       sync.Mutex
	elements []T
	more     chan struct{} // signals that the queue may have elements
	closed   chan struct{}
}

// New returns an empty queue.
func New[T any]() *Queue[T] {
	return &Queue[T]{more: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Add appends an element.
func (q *Queue[T]) Add(e T) {
	q.mu.Lock()
	q.elements = append(q.elements, e)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// Close says that nothing more will be added.
func (q *Queue[T]) Close() { close(q.closed) }

// Closed returns a channel that is closed by Close.
func (q *Queue[T]) Closed() <-chan struct{} { return q.closed }

// Next waits for an element. It returns false if the queue is closed and empty.
func (q *Queue[T]) Next() (T, bool) {
	for {
		if e, ok := q.take(); ok {
			return e, true
		}
		select {
		case <-q.more:
		case <-q.closed:
			return q.take()
		}
	}
}

// take removes and returns the first element, if the queue is not empty.
func (q *Queue[T]) take() (first T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.elements) == 0 {
		return first, false
	}
	var zero T
	first, q.elements[0] = q.elements[0], zero
	q.elements = q.elements[1:]
	return first, true
}
