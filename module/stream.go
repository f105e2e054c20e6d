package module

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// Stream is a run in progress whose events can be watched.
type Stream[Out any] struct {
	cancel context.CancelFunc
	queue  *queue
	result Result[Out]
}

// Start begins a run of any module, including your own. [Stream.Events] yields its events, and [Stream.Result]
// returns its result; the run continues whether or not they are called. A module that panics, or returns neither a
// prediction nor an error, fails: see [Module].
func Start[In, Out any](ctx context.Context, m Module[In, Out], in In) *Stream[Out] {
	if ctx == nil {
		s := &Stream[Out]{cancel: func() {}, queue: newQueue(), result: Result[Out]{Err: errNoContext}}
		s.queue.close()
		return s
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &Stream[Out]{
		cancel: func() { cancel(errLoopEnded) }, queue: newQueue(), result: Result[Out]{Err: errNoReturn},
	}
	go func() {
		defer cancel(nil)
		defer s.queue.close()
		scope := scopeOf(ctx)
		scope.deltas = true
		scope.tell = both(scope.tell, func(_ context.Context, e Event) { s.queue.add(e) })
		s.result = runModule(scope.in(ctx), m, in)
	}()
	return s
}

// Events yields the events of the run until it ends, and then its error if it has one. Leaving the loop cancels the
// run. Every event is yielded once: a second loop continues where the first ended.
func (s *Stream[Out]) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for s != nil && s.queue != nil {
			e, ok := s.queue.next()
			if !ok {
				break
			}
			if !yield(e, nil) {
				s.cancel()
				return
			}
		}
		if _, err := s.Result(); err != nil {
			yield(nil, err)
		}
	}
}

// Result waits until the run ends, and returns what Run of the module returned.
func (s *Stream[Out]) Result() (*Prediction[Out], error) {
	if s == nil || s.queue == nil {
		return nil, errNotStarted
	}
	<-s.queue.closed
	return s.result.Prediction, s.result.Err
}

var (
	errNotStarted = errors.New("module: the stream was not made by Start")
	errLoopEnded  = errors.New("the loop over the stream's events ended early")
)

// queue holds events until they are read, so that a run never waits for the reader.
type queue struct {
	mu     sync.Mutex
	events []Event
	more   chan struct{} // holds an element if there may be events
	closed chan struct{}
}

func newQueue() *queue {
	return &queue{more: make(chan struct{}, 1), closed: make(chan struct{})}
}

func (q *queue) add(e Event) {
	q.mu.Lock()
	q.events = append(q.events, e)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) close() { close(q.closed) }

// next waits for an event. It returns false if the run has ended and there are no more.
func (q *queue) next() (Event, bool) {
	for {
		if e := q.take(); e != nil {
			return e, true
		}
		select {
		case <-q.more:
		case <-q.closed:
			e := q.take()
			return e, e != nil
		}
	}
}

// take returns the first event, or nil if there is none at the moment.
func (q *queue) take() Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == 0 {
		return nil
	}
	e := q.events[0]
	q.events[0] = nil
	q.events = q.events[1:]
	return e
}
