package host

import (
	"context"
	"errors"
	"testing"
	"time"
)

// newSlotsForTest returns slots for one program that computes and three workers.
func newSlotsForTest() *slots { return newSlots(&Options{Max: 1, Workers: 3, Resident: 100}) }

// begin makes a run enter, which must not wait.
func begin(t *testing.T, s *slots, outer *Ticket) *Ticket {
	t.Helper()
	run := NewTicket(outer, nil)
	if err := s.enter(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return run
}

// queued admits a run and reports whether it has to wait.
func queued(t *testing.T, s *slots, run *Ticket) bool {
	t.Helper()
	if err := s.admit(run); err != nil {
		t.Fatal(err)
	}
	return !run.isGranted()
}

func (t *Ticket) isGranted() bool {
	select {
	case <-t.granted:
		return true
	default:
		return false
	}
}

// end ends a run.
func (s *slots) finish(t *Ticket) {
	s.leave(t)
	s.discharge()
}

// Runs that have begun go on before others begin, in the order of their replies.
func TestSlotsOrder(t *testing.T) {
	t.Parallel()
	s := newSlotsForTest()
	first := begin(t, s, nil)
	s.wait(first, 10)
	second := begin(t, s, nil)
	third := NewTicket(nil, nil)
	if !queued(t, s, third) {
		t.Fatal("two programs compute")
	}
	resumed := make(chan bool)
	go func() { s.resume(first); resumed <- true }()
	for !func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.queue) == 2 }() {
	}
	s.finish(second)
	<-resumed
	if third.isGranted() {
		t.Error("a new run began before one that had its reply")
	}
	s.finish(first)
	if !third.isGranted() {
		t.Error("a slot was lost")
	}
	s.finish(third)
	if s.free != 1 || s.workers != 0 || s.resident != 0 || len(s.crowded) != 0 {
		t.Errorf("left: %d slots, %d workers, %d bytes, %d crowded", s.free, s.workers, s.resident, len(s.crowded))
	}
}

// A nested run shares the slot of an ancestor. Two runs that are nested in the same one do not.
func TestSlotsNested(t *testing.T) {
	t.Parallel()
	s := newSlotsForTest()
	outer := begin(t, s, nil)
	inner := begin(t, s, outer)
	sibling := NewTicket(outer, nil)
	if !queued(t, s, sibling) {
		t.Error("siblings share a slot")
	}
	if err := s.admit(NewTicket(inner, nil)); !errors.Is(err, ErrNested) {
		t.Errorf("the fourth worker: %v", err)
	}
	s.finish(inner)
	if !sibling.isGranted() {
		t.Error("the slot was not shared again")
	}
	innermost := begin(t, s, sibling)
	s.wait(sibling, 0)
	s.wait(outer, 0)
	if s.free != 0 {
		t.Error("the slot is free, but a run computes")
	}
	s.finish(innermost)
	if s.free != 1 {
		t.Error("the slot is not free")
	}
	stranger := newSlotsForTest()
	for range 3 {
		begin(t, stranger, outer)
		stranger.free++
	}
	if err := stranger.admit(NewTicket(outer, nil)); !errors.Is(err, ErrNested) {
		t.Errorf("nested in a run of another pool: %v", err)
	}
}

// At the bound of memory, a run keeps its slot while it waits, and no nested run begins.
func TestSlotsResident(t *testing.T) {
	t.Parallel()
	s := newSlotsForTest()
	first := begin(t, s, nil)
	s.wait(first, 60)
	second := begin(t, s, nil)
	s.wait(second, 60)
	if err := s.admit(NewTicket(second, nil)); !errors.Is(err, ErrNested) {
		t.Errorf("a nested run: %v", err)
	}
	third := NewTicket(nil, nil)
	if !queued(t, s, third) {
		t.Error("the slot is free")
	}
	s.resume(second)
	if len(s.crowded) != 0 || third.isGranted() {
		t.Error("the run gave up its slot when it went on")
	}
	s.wait(second, 60)
	s.resume(first) // its memory no longer counts, so that the second run gives up its slot
	if third.isGranted() || s.resident != 60 {
		t.Errorf("the slot has not been passed on; %d bytes", s.resident)
	}
	s.finish(first)
	if !third.isGranted() {
		t.Error("the slot is not free")
	}
}

// Runs that wait when the slots are closed, or whose context ends, return and leave nothing.
func TestSlotsEnd(t *testing.T) {
	t.Parallel()
	s := newSlotsForTest()
	first := begin(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.enter(ctx, NewTicket(nil, nil)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	waits := make(chan error)
	go func() { waits <- s.enter(t.Context(), NewTicket(nil, nil)) }()
	nested := make(chan error)
	go func() { nested <- s.enter(t.Context(), NewTicket(&Ticket{slots: s}, nil)) }()
	// Every nested run begins while its outer run is in progress.
	for begun := false; !begun; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		begun = s.workers == 2
		s.mu.Unlock()
	}
	closed := make(chan bool)
	go func() { s.close(); closed <- true }()
	if err := <-waits; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	s.wait(first, 0)
	s.finish(first)
	if err := <-nested; err != nil {
		t.Errorf("a nested run: %v", err)
	}
	s.discharge()
	s.resume(first) // returns at once
	<-closed
	if err := s.enter(t.Context(), NewTicket(nil, nil)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
