package module

import (
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// Event is something that happened in a run, as it happens: one of [Asked],
// [Delta], [Replied], [Started], [Calling], [Called], [Ended], [Judged], [Answered],
// [Failed]. As JSON it has its type too, as "event".
type Event interface {
	// From says which run it happened in.
	From() Origin
	event()
}

// Origin says where an event comes from. It is part of every event.
type Origin struct {
	Module string `json:"module"`                  // the kind of module, such as "CodeAct"
	Run    uint64 `json:"run,string"`              // a random number for each run of a module
	Parent uint64 `json:"parent,string,omitempty"` // the run within which this one was made, or 0
	Step   int    `json:"step,omitempty"`          // from 1; 0 for the run as a whole
}

// From returns o.
func (o Origin) From() Origin { return o }

func (Origin) event() {}

// Asked says that a question goes to the model.
type Asked struct {
	Origin
	Prompt string `json:"prompt"` // the last message of the conversation

	part string // the path of the Predictor within what is attempted
}

// Delta is a piece of the model's reply, as it comes. There are none but in a
// [Stream], and only of models that stream. The pieces are as the model writes them,
// with the marks of the form that it was asked for.
type Delta struct {
	Origin
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"` // it belongs to what the model thinks, not to its reply
}

// Replied says that the model answered.
type Replied struct {
	Origin
	Text     string        `json:"text"`
	Thinking string        `json:"thinking,omitempty"` // where the model keeps that apart
	Usage    Usage         `json:"usage"`
	Duration time.Duration `json:"duration_ns"`
}

// Started says that a program is about to be checked and run.
type Started struct {
	Origin
	Code string `json:"code"`
}

// Calling says that a tool is about to be called, or the record to answer for it. Who
// hears of it cannot prevent it: that is what policies are for.
type Calling struct {
	Origin
	Call sandbox.Call `json:"call"` // without a result
}

// Called says that a tool call has ended, or, if it is Pending, that nobody waits for it
// any more.
type Called struct {
	Origin
	Call sandbox.Call `json:"call"`
}

// Ended says how a program ended, and what the model is told of it: nothing if
// that was the answer, or the end of the run.
type Ended struct {
	Origin
	Outcome     *sandbox.Outcome `json:"outcome,omitempty"`
	Observation string           `json:"observation,omitempty"`
}

// Answered says that a run came to its answer.
type Answered struct {
	Origin
	Output json.RawMessage `json:"output,omitempty"` // the object of all outputs
}

// Failed says that a run ended without an answer.
type Failed struct {
	Origin
	Err error `json:"-"` // as JSON its text, "error"
}

// observer is who is told of everything that happens within a context.
type observer struct {
	tell   func(Event)
	deltas bool    // wanted
	run    uint64  // under way
	meter  *meter  // of that run
	log    *runLog // that keeps what runs do; or nil
}

type observerKey struct{}

// Observe returns a context within which f is told what happens in every run of
// every module, also of those that a module runs itself. It is called
// concurrently, and should return soon; if it panics, that ends the run. An
// observer that ctx has already is told as well. [net/http/httptrace] is the same for HTTP.
func Observe(ctx context.Context, f func(Event)) context.Context {
	return observe(ctx, observer{tell: f})
}

func observe(ctx context.Context, o observer) context.Context {
	outer := observerOf(ctx)
	o.tell = both(outer.tell, o.tell)
	o.deltas = o.deltas || outer.deltas
	o.run, o.meter, o.log = outer.run, cmp.Or(o.meter, outer.meter), cmp.Or(o.log, outer.log)
	return context.WithValue(ctx, observerKey{}, &o)
}

// observerOf is who is told within a context; nobody, if there is none.
func observerOf(ctx context.Context) observer {
	if o, ok := ctx.Value(observerKey{}).(*observer); ok {
		return *o
	}
	return observer{}
}

// both tells two, either of whom may be nil.
func both(f, g func(Event)) func(Event) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(e Event) { f(e); g(e) }
}

// source is where the events of one run come from, and where they go.
type source struct {
	origin Origin
	tell   func(Event) // nil if nobody listens
	deltas bool
	meter  *meter
	broken *atomic.Pointer[PanicError] // the first panic of who listens
	log    *runLog                     // that is told what the run did; or nil
	told   bool                        // it has been
	began  time.Time
}

// newSource begins a run of a module. The context is for all that happens within.
func newSource(ctx context.Context, module string, onEvent func(Event)) (context.Context, source) {
	var own struct { // in one piece, which is made for each run
		observer observer
		meter    meter
		broken   atomic.Pointer[PanicError]
	}
	o := observerOf(ctx)
	own.meter.outer = o.meter
	s := source{
		origin: Origin{Module: module, Run: rand.Uint64(), Parent: o.run},
		tell:   both(o.tell, onEvent),
		deltas: o.deltas,
		meter:  &own.meter,
		broken: &own.broken,
		log:    o.log,
		began:  time.Now(),
	}
	o.run, o.meter, o.log = s.origin.Run, s.meter, nil
	own.observer = o
	return context.WithValue(ctx, observerKey{}, &own.observer), s
}

// end ends a run, with what was paid besides. The error is why there is no answer.
// What came after is told by ending it again.
func (s *source) end(t *Trajectory, err error) {
	t.ID, t.Module, t.Err = s.origin.Run, s.origin.Module, err
	t.Began, t.Duration = s.began, time.Since(s.began)
	t.settle(s.meter.total())
	if s.told { // which is rare: it is searched for
		s.log.forget(s.origin.Run)
	}
	s.log.add(s.origin.Run, *t)
	s.told = true
}

// at is the origin of what happens in a step.
func (s *source) at(step int) Origin {
	o := s.origin
	o.Step = step
	return o
}

// emit tells of an event. A panic of who listens ends the run, but not in the midst
// of what it does: see fault.
func (s *source) emit(e Event) {
	if s.tell == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			s.broken.CompareAndSwap(nil, newPanic("the observer of events", p))
		}
	}()
	s.tell(e)
}

// fault is why the run must end, if somebody who listens has panicked.
func (s *source) fault() error {
	if broken := s.broken.Load(); broken != nil {
		return broken
	}
	return nil
}
