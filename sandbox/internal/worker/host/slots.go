package host

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/writ-go/writ/internal/place"
)

// ErrNested is returned by [Pool.Run] for a run that was started by a tool call in another run, if the pool has reached
// its process or memory limit. Waiting would not help: the outer run keeps its worker until the nested run has ended.
var ErrNested = errors.New("no worker for a program that another program's tool call started: " +
	"the process or memory limit is reached; raise Options.Processes or Options.Resident")

// slots bounds the number of programs that compute at the same time, and the number of workers. A run has a
// worker from start to end. It has a slot, too, except while its program waits for calls. The methods of slots
// are safe for concurrent use.
type slots struct {
	maxWorkers  int
	maxResident int64
	ended       sync.WaitGroup // counts the workers of runs
	closed      chan struct{}

	mu       sync.Mutex
	free     int       // the number of free slots
	workers  int       // the number of workers with runs, including workers that are ending
	resident int64     // memory of the workers for runs without a slot
	crowded  []*Ticket // runs that wait for calls but keep their slots, because resident would be too large
	queue    []*Ticket // tickets in the order in which they get slots
}

func newSlots(o *Options) *slots {
	return &slots{maxWorkers: o.Workers, maxResident: o.Resident, free: o.Max, closed: make(chan struct{})}
}

// slot is the permission to compute. Nested runs may share it: each holder is an ancestor of the next holder.
type slot struct{ holders []*Ticket }

// Ticket is a run's claim to a slot. A run is nested in another one if a tool call of that run
// started it. A nested run may share the slot of an ancestor, so that it never waits for that
// slot. The methods of the ticket's place must not block.
type Ticket struct {
	outer *Ticket     // the ticket of the run in which this one is nested, in any pool; may be nil
	place place.Place // the run leaves this place whenever it gives up its slot; may be nil

	slots    *slots        // nil before the run
	rank     rank          // rank in the queue
	granted  chan struct{} // closed when the ticket has left the queue
	slot     *slot         // nil if the run has none
	worker   bool          // the run has a worker
	waiting  bool          // the run waits for calls
	resident int64         // memory of the worker while the run waits
	left     bool          // the run has given up its place
}

// NewTicket returns a ticket for a run. outer is the ticket of the run in which it is nested, or nil. If p is
// not nil, the run leaves the place p while its program waits for calls.
func NewTicket(outer *Ticket, p place.Place) *Ticket { return &Ticket{outer: outer, place: p} }

// rank is a ticket's rank in the queue: runs that have begun come before new ones.
type rank int

const (
	rankResuming rank = iota
	rankNested
	rankNew
)

// enter waits until the run may have a worker and compute.
func (s *slots) enter(ctx context.Context, t *Ticket) error {
	if err := s.admit(t); err != nil {
		return err
	}
	var closed <-chan struct{} // nil for a nested run: the outer run is in progress, so the nested run may start
	if t.rank == rankNew {
		closed = s.closed
	}
	select {
	case <-t.granted:
	case <-ctx.Done():
	case <-closed:
	}
	err := ctx.Err()
	if err == nil && t.rank == rankNew && s.isClosed() {
		err = ErrClosed
	}
	if err != nil {
		if s.leave(t); t.worker {
			s.discharge()
		}
	}
	return err
}

// admit puts a new run into the queue.
func (s *slots) admit(t *Ticket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.slots, t.rank, t.worker = s, rankNew, false
	here := t.ancestor(func(*Ticket) bool { return true }) != nil
	switch {
	case s.isClosed() && !here:
		return ErrClosed
	case t.outer != nil && (s.workers >= s.maxWorkers || len(s.crowded) > 0):
		return ErrNested
	case t.outer != nil:
		t.rank = rankNested
		s.employ(t)
	}
	s.enqueue(t)
	return nil
}

// wait gives up the slot of a run whose program waits for calls, as soon as the workers of all waiting runs
// together fit in maxResident. resident is the memory of the run's worker.
func (s *slots) wait(t *Ticket, resident int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.waiting, t.resident = true, resident
	s.crowded = append(s.crowded, t)
	s.relieve()
}

// relieve makes waiting runs give up their slots, as long as the memory of their workers fits in maxResident.
func (s *slots) relieve() {
	s.crowded = slices.DeleteFunc(s.crowded, func(t *Ticket) bool {
		if s.resident+t.resident > s.maxResident {
			return false
		}
		s.resident += t.resident
		if t.place != nil {
			t.place.Leave()
			t.left = true
		}
		s.release(t)
		return true
	})
}

// resume ends the wait of a run: it returns when the run has a slot again, or when leave was called.
func (s *slots) resume(t *Ticket) {
	s.mu.Lock()
	if t.waiting {
		if t.slot == nil {
			t.rank = rankResuming
			s.enqueue(t)
		}
		s.settle(t)
		if t.left {
			t.left = false
			t.place.Return()
		}
	}
	granted := t.granted
	s.mu.Unlock()
	<-granted
}

// leave gives up the slot of a run and its place in the queue, but not its worker.
func (s *slots) leave(t *Ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(t)
	if i := slices.Index(s.queue, t); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		close(t.granted)
	}
	s.release(t)
}

// settle records that a run no longer waits for calls.
func (s *slots) settle(t *Ticket) {
	if !t.waiting {
		return
	}
	t.waiting = false
	if i := slices.Index(s.crowded, t); i >= 0 {
		s.crowded = slices.Delete(s.crowded, i, i+1)
		return
	}
	s.resident -= t.resident
	s.relieve()
}

// release gives up a slot.
func (s *slots) release(t *Ticket) {
	if t.slot == nil {
		return
	}
	holders := slices.DeleteFunc(t.slot.holders, func(h *Ticket) bool { return h == t })
	if t.slot.holders = holders; len(holders) == 0 {
		s.free++
	}
	t.slot = nil
	s.grant()
}

// employ counts t's worker as busy until discharge is called.
func (s *slots) employ(t *Ticket) {
	t.worker = true
	s.workers++
	s.ended.Add(1)
}

// discharge is called when a run's worker has ended or is idle.
func (s *slots) discharge() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers--
	s.ended.Done()
	s.grant()
}

// enqueue puts a run into the queue behind the runs of the same rank.
func (s *slots) enqueue(t *Ticket) {
	t.granted = make(chan struct{})
	at := len(s.queue)
	for at > 0 && s.queue[at-1].rank > t.rank {
		at--
	}
	s.queue = slices.Insert(s.queue, at, t)
	s.grant()
}

// grant gives slots to runs in the queue. If a new run cannot begin, the runs after it cannot
// either.
func (s *slots) grant() {
	for i := 0; i < len(s.queue); {
		t := s.queue[i]
		switch {
		case t.rank == rankNew && (s.free == 0 || s.workers >= s.maxWorkers || s.isClosed()):
			return
		case s.free > 0:
			s.free--
			t.slot = &slot{}
		default:
			lender := t.ancestor(func(a *Ticket) bool {
				return a.slot != nil && a.slot.holders[len(a.slot.holders)-1] == a
			})
			if lender == nil { // no ancestor has a slot, or another run shares it
				i++
				continue
			}
			t.slot = lender.slot
		}
		t.slot.holders = append(t.slot.holders, t)
		if t.rank == rankNew {
			s.employ(t)
		}
		s.queue = slices.Delete(s.queue, i, i+1)
		close(t.granted)
	}
}

// ancestor returns the innermost ancestor in the same pool for which f returns true, or nil.
func (t *Ticket) ancestor(f func(*Ticket) bool) *Ticket {
	for a := t.outer; a != nil; a = a.outer {
		if a.slots == t.slots && f(a) {
			return a
		}
	}
	return nil
}

func (s *slots) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// close makes runs that have not begun return [ErrClosed], and waits until all workers are
// idle or have ended.
func (s *slots) close() {
	s.mu.Lock()
	close(s.closed)
	s.mu.Unlock()
	s.ended.Wait()
}
