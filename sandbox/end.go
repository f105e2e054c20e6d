package sandbox

import (
	"context"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// abort ends the program; it cannot catch that.
func (h *host) abort(err error) {
	h.mu.Lock()
	if h.aborted == nil || mendable(h.aborted) && !mendable(err) {
		h.aborted = err
	}
	cancel := h.cancelCalls
	h.mu.Unlock()
	h.stop(err)
	if h.drop(); cancel != nil && !mendable(err) {
		cancel(err)
	}
}

// drop drops the calls that have not reached their tools: nothing more is done, and
// nobody is asked, for a program that is over.
func (h *host) drop() {
	h.dropping.Do(func() {
		close(h.closing)
		h.dispatcher.End()
		close(h.dropped)
	})
}

// ended reports whether the program has ended, or is being stopped.
func (h *host) ended() bool {
	select {
	case <-h.closing:
		return true
	default:
		return h.callCtx.Err() != nil
	}
}

// settleTime is how long handlers that were told to stop may take to do so.
const settleTime = 200 * time.Millisecond

// end sees to the calls still under way. If the program has come to an end by
// itself, or will be rewritten, they may end in their time, for what they did would
// otherwise be unknown; then, as in all other cases, they are cancelled and waited
// for, but not long.
func (h *host) end(r *engine.Result) {
	h.drop()
	h.mu.Lock()
	aborted, calls := h.aborted, len(h.calls)
	h.over = calls == 0
	h.mu.Unlock()
	defer h.stop(context.Canceled)
	if calls == 0 {
		return
	}
	ended := make(chan struct{})
	go func() {
		h.running.Wait()
		close(ended)
	}()
	if aborted != nil && mendable(aborted) || aborted == nil && h.ctx.Err() == nil && byItself(r) {
		wait(ended, h.timeLimit()-time.Since(h.start))
	}
	h.cancelCalls(context.Canceled)
	wait(ended, settleTime)
	h.mu.Lock()
	h.over = true
	h.mu.Unlock()
}

// byItself reports whether a program ended before any limit did that to it.
func byItself(r *engine.Result) bool {
	if r == nil {
		return false
	}
	if r.Failure == nil {
		return true
	}
	switch r.Failure.Kind {
	case engine.Thrown, engine.Unawaited, engine.Deadlock, engine.BadValue, engine.TooLarge:
		return true
	}
	return false
}

// breaths are the steps in which that time comes to its end: a machine that stands
// still for so long, and the handlers with it, takes one of them.
const breaths = 10

func wait(ended <-chan struct{}, limit time.Duration) {
	for range breaths {
		select {
		case <-ended:
			return
		case <-time.After(limit / breaths):
		}
	}
}
