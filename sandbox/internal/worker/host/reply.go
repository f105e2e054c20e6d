package host

import (
	"errors"
	"sync/atomic"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// replyTo returns a function that sends the reply to a call. Only the first call to the function has an effect. It may
// be called on any goroutine, even after the run.
func (r *attempt) replyTo(id int) func(engine.Reply) {
	var answered atomic.Bool
	return func(a engine.Reply) {
		if !answered.Swap(true) {
			r.reply(worker.Reply{ID: id, Reply: a})
		}
	}
}

// reply sends the reply to a call, or keeps it until the run has a slot.
func (r *attempt) reply(a worker.Reply) {
	r.w.out.Lock()
	defer r.w.out.Unlock()
	switch {
	case r.over.Load():
	case r.waiting:
		r.hold(a)
	default:
		r.add(a)
		r.flush()
	}
}

// add adds the reply to a call to the frames that flush sends.
func (r *attempt) add(a worker.Reply) {
	r.sent++
	if r.w.out.Add(worker.KindReply, r.id, &a) != nil {
		a.Reply = engine.Reply{Error: &engine.ToolError{
			Kind: "internal", Message: "the tool's result is not valid JSON",
		}}
		_ = r.w.out.Add(worker.KindReply, r.id, &a)
	}
}

// flush sends the frames that were added. It ignores connection errors, because receive returns them.
func (r *attempt) flush() {
	if err := r.w.out.Flush(); errors.Is(err, errUnread) {
		r.w.kill(err)
	}
}
