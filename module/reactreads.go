package module

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/toolbox"
	"github.com/writ-go/writ/sandbox"
)

// maxReads is how many calls in a reply are made at the same time, as in [sandbox.Limits].Concurrency.
const maxReads = 16

// read is one of the calls in a reply that only read.
type read struct {
	at, tool int // the index of the call in the reply, and of its tool
	args     json.RawMessage

	call    sandbox.Call
	perform toolbox.Perform
	outcome *sandbox.Outcome
	err     error // ends the run
}

// readAll makes calls that only read, at the same time. It sets the observation on each. The calls are issued in their
// order, so that a journal can repeat them, and all of them end before readAll returns. An error ends the run.
func (r *reactRun) readAll(ctx context.Context, reads []read, told []string) error {
	if err := r.journal.Reconcile(ctx); err != nil {
		return err
	}
	for i := range reads {
		c := &reads[i]
		var source string
		c.call, source = r.begin(i+1, c.tool, c.args)
		c.perform = r.tools.Issue(r.attempt, c.tool, &c.call, source, nil)
	}
	start, slots, step := time.Now(), make(chan struct{}, maxReads), len(r.Steps)
	var wg sync.WaitGroup
	for i := range reads {
		c := &reads[i]
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			c.call.Started = time.Since(start)
			c.outcome, _, c.err = c.perform(ctx)
			r.emit(event.ToolCallEnd{Origin: r.at(step), Call: c.call})
		})
	}
	wg.Wait()
	var ending error
	for _, c := range reads {
		r.outcome = toolbox.Joined(r.outcome, c.outcome, true)
		r.gate.lists.Add(c.call, r.tools.Bindings[c.tool])
		told[c.at] = r.told(c.tool, c.call)
		if ending == nil {
			ending = c.err
		}
	}
	if ctx.Err() != nil {
		ending = lm.ContextError(ctx)
	}
	if ending != nil {
		r.endStep()
	}
	return ending
}
