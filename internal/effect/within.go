package effect

import (
	"context"
	"sync"
)

// Within has the journals of the runs that a call of a module as a tool makes, so that a call that repeats it goes on
// with these journals.
type Within struct {
	mu       sync.Mutex
	busy     chan struct{} // has a value while a call runs
	journals []*Opened
	recorded []recorded // by an earlier process
	lost     bool       // see Alone
}

// Opened is the journal of a run within a call.
type Opened struct {
	Key     string // set by the caller of Find
	Journal any    // set by the caller of Find

	place, inputs string // of the run that the journal belongs to
	first, last   string // the calls that opened it first and last
}

// recorded is an opening of a journal that an earlier process has recorded.
type recorded struct {
	*Opened
	call, inputs string
}

// Enter waits until no other call runs. The error is that of the context.
func (w *Within) Enter(ctx context.Context) (leave func(), err error) {
	w.mu.Lock()
	if w.busy == nil {
		w.busy = make(chan struct{}, 1)
	}
	busy := w.busy
	w.mu.Unlock()
	select {
	case busy <- struct{}{}:
		return func() { <-busy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Alone returns the context of a run that does not go on if the call is repeated.
func Alone(ctx context.Context) context.Context {
	id := Of(ctx)
	if w := id.Within; w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lost = true
	}
	id.Within, id.Origin = nil, ""
	return With(ctx, id)
}

// Lost reports whether a run of the call does not go on: see [Alone].
func (w *Within) Lost() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// Find returns the journal of a run that a call makes. The place and the inputs tell the run from others in the call.
// If an earlier call left the journal of such a run, or else one at the same place with other inputs, Find returns that
// journal, and again is true. Known reports that an earlier process has recorded the opening.
func (w *Within) Find(call, place, inputs string) (o *Opened, again, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, r := range w.recorded {
		if r.call == call && r.place == place && r.inputs == inputs {
			w.recorded = append(w.recorded[:i:i], w.recorded[i+1:]...)
			return r.Opened, r.first != call, true
		}
	}
	for _, left := range w.journals {
		if left.place == place && left.last != call && (o == nil || left.inputs == inputs && o.inputs != inputs) {
			o = left
		}
	}
	if again = o != nil; !again {
		o = &Opened{place: place, inputs: inputs, first: call}
		w.journals = append(w.journals, o)
	}
	o.last = call
	return o, again, false
}

// Restore adds an opening that an earlier process has recorded.
func (w *Within) Restore(call, place, inputs, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var o *Opened
	for _, known := range w.journals {
		if known.Key == key {
			o = known
		}
	}
	if o == nil {
		o = &Opened{Key: key, place: place, inputs: inputs, first: call}
		w.journals = append(w.journals, o)
	}
	o.last = call
	w.recorded = append(w.recorded, recorded{o, call, inputs})
}
