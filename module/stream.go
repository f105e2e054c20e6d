package module

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/queue"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// Stream is a run in progress whose events, or whose answer, can be watched.
type Stream[Out any] struct {
	cancel context.CancelFunc
	queue  *queue.Queue[event.Event]
	live   *live
	result Result[Out]
}

// Start begins a run of any module, including your own. [Stream.Events] yields its events, and [Stream.Result] returns
// its result; the run continues whether or not they are called. If the module panics, or returns neither a prediction
// nor an error, the run fails: see [Module].
func Start[In, Out any](ctx context.Context, m Module[In, Out], in In) *Stream[Out] {
	if ctx == nil {
		s := &Stream[Out]{cancel: func() {}, queue: queue.New[event.Event](), result: Result[Out]{Err: errNoContext}}
		s.live = &live{}
		s.queue.Close()
		return s
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &Stream[Out]{
		cancel: func() { cancel(errLoopEnded) }, queue: queue.New[event.Event](), result: Result[Out]{Err: errNoReturn},
		live: &live{out: reflect.TypeFor[Out](), changed: make(chan struct{}, 1)},
	}
	go func() {
		defer cancel(nil)
		defer s.queue.Close()
		scope := scopeOf(ctx)
		scope.deltas, scope.live = true, s.live
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

// Partials yields the answer while the model writes it: values of the output type that grow, and at the end the answer,
// with Complete set. If the run fails, Partials yields its error last. See [signature.Partial] for what a value
// promises. Leaving the loop cancels the run. Partials can be used at the same time as Events.
//
// Values are early if a model that supports streaming replies to a [Predict], [ChainOfThought] or
// [MultiChainComparison] with this output type, in the format of [Native], [JSON] or [Markers], with nothing but
// thoughts and a fence before the first output. Other answers come at once. Partials skips values that the caller is
// too slow to take. Another value follows only when the reply has grown by a thirtieth, so the work is proportional to
// the reply's length.
func (s *Stream[Out]) Partials() iter.Seq2[signature.Partial[Out], error] {
	return func(yield func(signature.Partial[Out], error) bool) {
		number, size, last := 0, 0, ""
		for s.hasMore() {
			n, read, found, ok := s.live.read(number, size)
			p := signature.Partial[Out]{Open: found.Open, Done: found.Done, Reply: n}
			raw := found.Values.String()
			now := fmt.Sprint(n, raw, p.Open, p.Done)
			number, size = n, read
			if !ok || len(found.Values) == 0 || now == last || schema.Unmarshal([]byte(raw), &p.Value) != nil {
				continue
			}
			if last = now; !yield(p, nil) {
				s.cancel()
				return
			}
		}
		pred, err := s.Result()
		if err != nil {
			yield(signature.Partial[Out]{}, err)
			return
		}
		number, _, _, _ = s.live.read(0, 0)
		yield(signature.Partial[Out]{Value: pred.Output, Complete: true, Reply: max(number, 1)}, nil)
	}
}

// hasMore waits until the reply has more text. It returns false if the run has ended.
func (s *Stream[Out]) hasMore() bool {
	if s == nil || s.queue == nil {
		return false
	}
	select {
	case <-s.live.changed:
		return true
	case <-s.queue.Closed():
		return false
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
