package effect

import (
	"context"
	"sync"
	"sync/atomic"
)

// Within has the journals of the runs that a call of a module as a tool makes, so that a call that repeats it goes on
// with these journals.
type Within struct {
	Busy chan struct{} // has a value while such a call runs
	Lost atomic.Bool   // a run of the call does not go on: see Alone

	mu       sync.Mutex
	openings []*Opening
}

// NewWithin returns a Within without journals.
func NewWithin() *Within { return &Within{Busy: make(chan struct{}, 1)} }

// Opening is an opening of a journal by a call.
type Opening struct {
	Call    string `json:"call"`
	Place   string `json:"place"`  // of the run within the call
	Inputs  string `json:"inputs"` // of the run: their hash
	Key     string `json:"key"`    // of the journal; set by the caller of Find
	Again   bool   `json:"again"`  // an earlier call has opened the journal
	Known   bool   `json:"-"`      // an earlier process has recorded the opening
	Journal any    `json:"-"`      // set by the caller of Find

	recorded bool // and not repeated yet
	past     bool // a later call has opened the journal
}

// Find opens the journal of a run that a call makes. If an earlier call left the journal of such a run, or else one at
// the same place with other inputs, it is that journal. Otherwise, the journal is new.
func (w *Within) Find(call, place, inputs string) *Opening {
	w.mu.Lock()
	defer w.mu.Unlock()
	o, left := &Opening{Call: call, Place: place, Inputs: inputs}, (*Opening)(nil)
	for _, l := range w.openings {
		switch {
		case l.Place != place:
		case l.Call == call && l.recorded && l.Inputs == inputs:
			l.recorded, l.Known = false, true
			return l
		case l.Call != call && !l.past && (left == nil || l.Inputs == inputs && left.Inputs != inputs):
			left = l
		}
	}
	if left != nil {
		left.past, o.Again, o.Key, o.Journal = true, true, left.Key, left.Journal
	}
	w.openings = append(w.openings, o)
	return o
}

// Restore adds an opening that an earlier process has recorded.
func (w *Within) Restore(o Opening) {
	for _, l := range w.openings {
		l.past = l.past || l.Key == o.Key
	}
	o.recorded = true
	w.openings = append(w.openings, &o)
}

// Alone returns the context of a run that does not go on if the call is repeated.
func Alone(ctx context.Context) context.Context {
	id := Of(ctx)
	if id.Within != nil {
		id.Within.Lost.Store(true)
	}
	id.Within, id.Origin = nil, ""
	return With(ctx, id)
}
