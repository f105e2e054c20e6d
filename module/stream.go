package module

import (
	"context"
	"encoding/json"
	"errors"
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
		s := &Stream[Out]{cancel: func() {}, queue: queue.New[event.Event](), result: Result[Out]{Err: errNoContext},
			live: &live{}}
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
// with Complete set. If the run fails, Partials yields its error last. See [signature.Partial] for what a value promises.
// A reply that is rejected is followed by values of the next one, whose Reply is greater.
//
// There are values while a model that supports streaming replies to a [Predict], [ChainOfThought] or
// [MultiChainComparison] with this output type, also within another module, in the formats of [Native], [JSON] and
// [Markers]. A reply that has more than thoughts and a fence before its first output, or that is in another format, is
// only read when it is complete. Other modules, such as a [CodeAct], have their answer at once. Events and Result can be
// used at the same time.
//
// Partials skips values that the caller is too slow to take, and a value follows only if the reply has grown by a
// thirtieth, so the work is proportional to the reply's length. Leaving the loop cancels the run.
func (s *Stream[Out]) Partials() iter.Seq2[signature.Partial[Out], error] {
	return func(yield func(signature.Partial[Out], error) bool) {
		var p signature.Partial[Out]
		for r := (&reader{}); s != nil && s.queue != nil && !s.ended(); {
			r.live = s.live
			found, ok := r.next()
			if !ok || !decodePartial(found.Values, &p.Value) {
				continue
			}
			p.Open, p.Done, p.Reply = found.Open, found.Done, r.number
			if !yield(p, nil) {
				s.cancel()
				return
			}
		}
		pred, err := s.Result()
		if err != nil {
			yield(signature.Partial[Out]{}, err)
			return
		}
		last := signature.Partial[Out]{Value: pred.Output, Complete: true, Reply: max(s.live.replies(), 1)}
		var answer signature.Values
		_ = json.Unmarshal(pred.Trajectory.Answer(), &answer) // a caller's module may have none
		for _, v := range answer {
			last.Done = append(last.Done, v.Name)
		}
		yield(last, nil)
	}
}

// ended waits until the reply has more text, or the run has ended.
func (s *Stream[Out]) ended() bool {
	select {
	case <-s.live.changed:
		return false
	case <-s.queue.Closed():
		return true
	}
}

// decodePartial decodes outputs that may be incomplete, and reports whether that is possible.
func decodePartial[Out any](values signature.Values, into *Out) bool {
	var fresh Out
	raw, err := values.MarshalJSON()
	if err != nil || schema.Unmarshal(raw, &fresh) != nil {
		return false
	}
	*into = fresh
	return true
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
