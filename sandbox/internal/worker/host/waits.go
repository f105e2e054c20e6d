package host

import (
	"time"

	"github.com/writ-go/writ/sandbox/internal/worker"
)

// waits is the state of a run whose program may wait for calls. The lock of the worker's writer
// guards it.
type waits struct {
	waiting bool           // the program waits, so that the run may have no slot
	held    []worker.Reply // replies to send when the run has a slot again
	still   bool           // the host has stopped the program's clocks
	told    bool           // the worker has been told that its program's clocks stand still
	sent    int            // the number of replies sent
	next    int            // the minimum number of replies in the next waiting frame

	deadline *time.Timer   // kills the worker; nil if there is no time limit
	end      time.Time     // the time of the deadline
	left     time.Duration // the time left until the deadline while the clocks stand still; otherwise zero
}

// wait handles a waiting frame: the run gives up its slot. A worker that lies about waiting only delays its own
// program, or pauses it although it computes.
func (r *attempt) wait(f worker.Frame) error {
	var replies int
	if err := f.DecodeUntrusted(&replies, 0); err != nil {
		return err
	}
	r.w.out.Lock()
	defer r.w.out.Unlock()
	if replies < r.next || replies > r.sent {
		return breach("waiting after %d replies, but %d were sent", replies, r.sent)
	}
	r.next = replies + 1
	r.host.Waiting(replies)
	if replies == r.sent && r.sent < r.calls && !r.canceled.Load() { // otherwise, another frame is on its way
		r.waiting = true
		r.ticket.slots.wait(r.ticket, r.w.resident())
		r.tellClock()
	}
	return nil
}

func (r *attempt) isWaiting() bool {
	r.w.out.Lock()
	defer r.w.out.Unlock()
	return r.waiting
}

// hold keeps a reply until the run has a slot. The time until then does not count towards any limit.
func (r *attempt) hold(a worker.Reply) {
	if r.held = append(r.held, a); len(r.held) > 1 {
		return
	}
	r.tellClock()
	go func() {
		r.ticket.slots.resume(r.ticket)
		r.w.out.Lock()
		defer r.w.out.Unlock()
		if r.over.Load() {
			return
		}
		held := r.held
		r.waiting, r.held = false, nil
		for _, a := range held {
			r.add(a)
		}
		r.tellClock()
	}()
}

// SetStill implements [engine.RunClock].
func (r *attempt) SetStill(still bool) {
	r.w.out.Lock()
	defer r.w.out.Unlock()
	if r.still = still; !r.over.Load() {
		r.tellClock()
	}
}

// tellClock tells the worker whether the program's clocks stand still while it waits, and adjusts
// the deadline.
func (r *attempt) tellClock() {
	still := r.still || len(r.held) > 0
	switch {
	case r.deadline == nil:
	case still && r.left == 0 && r.deadline.Stop(): // while the program computes, an honest worker enforces the limits
		r.left = max(time.Until(r.end), 1)
	case !still && r.left != 0:
		r.deadline.Reset(r.left)
		r.end, r.left = time.Now().Add(r.left), 0
	}
	if still != r.told {
		r.told = still
		_ = r.w.out.Add(worker.KindClock, r.id, still)
	}
	r.flush()
}

// stopDeadline stops the timer of the deadline. It returns false if the deadline has passed.
func (r *attempt) stopDeadline() bool {
	r.w.out.Lock()
	defer r.w.out.Unlock()
	deadline := r.deadline
	r.deadline = nil
	return deadline == nil || deadline.Stop() || r.left != 0
}
