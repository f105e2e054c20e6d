package module

import (
	"context"
	"errors"
	"iter"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/queue"
)

// Stream is a run in progress whose events can be watched.
type Stream[Out any] struct {
	cancel context.CancelFunc
	queue  *queue.Queue[event.Event]
	result Result[Out]
}

// Start begins a run of any module, including your own. [Stream.Events] yields its events, and [Stream.Result] returns
// its result; the run continues whether or not they are called. If the module panics, or returns neither a prediction
// nor an error, the run fails: see [Module].
func Start[In, Out any](ctx context.Context, m Module[In, Out], in In) *Stream[Out] {
	if ctx == nil {
		s := &Stream[Out]{cancel: func() {}, queue: queue.New[event.Event](), result: Result[Out]{Err: errNoContext}}
		s.queue.Close()
		return s
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &Stream[Out]{
		cancel: func() { cancel(errLoopEnded) }, queue: queue.New[event.Event](), result: Result[Out]{Err: errNoReturn},
	}
	go func() {
		defer cancel(nil)
		defer s.queue.Close()
		scope := scopeOf(ctx)
		scope.deltas = true
		scope.tell = both(scope.tell, func(_ context.Context, e event.Event) { s.queue.Add(e) })
		s.result = runModule(scope.in(ctx), m, in)
	}()
	return s
}

// Events yields the events of the run. If the run fails, Events yields its error last. Leaving the loop cancels the
// run. Every event is yielded once: a second loop continues where the first ended.
func (s *Stream[Out]) Events() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for s != nil && s.queue != nil {
			e, ok := s.queue.Next()
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
	<-s.queue.Closed()
	return s.result.Prediction, s.result.Err
}

var (
	errNotStarted = errors.New("module: the Stream is nil, or was not created by Start")
	errLoopEnded  = errors.New("the loop over the stream's events ended early")
)
