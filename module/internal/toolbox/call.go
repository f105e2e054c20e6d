package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Issue looks up a call in the journal. Source is the call as source code; again has the IDs of the journal entries
// that the model repeats on purpose. Calls are issued one after another, and may be performed at the same time.
func (t *Toolbox) Issue(
	attempt *journal.Attempt, tool int, call *sandbox.Call, source string, again []string,
) *dispatch.Execution {
	c := tools.Call{ID: 1, Args: call.Args, Line: 1, Column: 1, Program: source}
	if again != nil {
		c.Repeat = &tools.Repeat{Again: again}
	}
	return dispatch.New(t.set, attempt).Issue(c, tool)
}

// Perform makes the call that was issued, and sets its result. The outcome is that of a program with only this call. If
// the call is held, Perform also returns the IDs of the entries that it resembles. An error ends the run.
func Perform(
	ctx context.Context, issued *dispatch.Execution, call *sandbox.Call,
) (out *sandbox.Outcome, held []string, err error) {
	start := time.Now()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx = place.With(ctx, alone{place.Of(ctx), stop})
	result, err := settle(ctx, issued.Perform)
	if hold, ok := errors.AsType[*tools.HoldError](err); ok && !tools.IsFatal(err) {
		held = hold.Entries
		err = &tools.ToolError{Tool: call.Tool, Kind: tools.KindDenied, Message: prompt.HeldCall}
	}
	call.Result, call.Recorded, call.Duration = result, issued.Recorded, time.Since(start)
	call.Decision = issued.Decision()
	if performed := issued.Args(); performed != nil {
		call.Args = performed
	}
	out, err = outcomeOf(call, err)
	return out, held, err
}

// alone is the place of a call that its run waits for, and nothing else. So if the call is parked, the run is.
type alone struct {
	outer place.Place // the place of the call that started the run, or nil
	stop  context.CancelCauseFunc
}

// Leave implements [place.Place].
func (a alone) Leave() {
	if a.outer != nil {
		a.outer.Leave()
	}
}

// Return implements [place.Place].
func (a alone) Return() {
	if a.outer != nil {
		a.outer.Return()
	}
}

// Park implements [place.Parker].
func (a alone) Park() {
	if p, ok := a.outer.(place.Parker); ok {
		p.Park()
	} else {
		a.stop(place.ErrPaused)
	}
}

// Unpark implements [place.Parker].
func (a alone) Unpark() {
	if p, ok := a.outer.(place.Parker); ok {
		p.Unpark()
	}
}

// outcomeOf returns the outcome of a program that consists of a call. If the call ends the run, it also returns why.
func outcomeOf(call *sandbox.Call, err error) (*sandbox.Outcome, error) {
	te, ending := toolError(call.Tool, err)
	out := &sandbox.Outcome{Value: call.Result, Duration: call.Duration, Waiting: call.Duration}
	kind := sandbox.KindToolError
	if call.Pending = errors.Is(err, errAbandoned); call.Pending {
		kind, out.Abandoned = sandbox.KindStopped, 1
	} else {
		call.Error = te
	}
	if te != nil {
		out.Failure = &sandbox.Failure{Finding: sandbox.Finding{Kind: kind, Message: te.Message}, Tool: call.Error}
	}
	out.Calls = []sandbox.Call{*call}
	return out, ending
}

// toolError returns the error for a call's record, and a second error if the call ends the run.
func toolError(tool string, err error) (te *tools.ToolError, ending error) {
	if err == nil || !tools.IsFatal(err) && errors.As(err, &te) {
		return te, nil
	}
	te = &tools.ToolError{Tool: tool, Kind: tools.KindUnknown, Message: err.Error()}
	return te.WithCause(err), fmt.Errorf("tool %s: %w", tool, err)
}

// Joined returns the outcomes of successive calls as one. Before is nil for the first call.
func Joined(before, next *sandbox.Outcome) *sandbox.Outcome {
	if before == nil {
		return next
	}
	all := *next
	all.Calls = append(before.Calls[:len(before.Calls):len(before.Calls)], next.Calls...)
	for i := range all.Calls {
		all.Calls[i].ID = i + 1
		if i >= len(before.Calls) {
			all.Calls[i].Started += before.Duration
		}
	}
	all.Duration += before.Duration
	all.Waiting += before.Waiting
	if all.Failure == nil {
		all.Failure = before.Failure
	}
	return &all
}

// abandonAfter is how long a call may go on after its context is done.
const abandonAfter = 200 * time.Millisecond

var (
	errAbandoned = errors.New("the call did not end when it was cancelled")
	errGoexit    = errors.New("the handler ended with runtime.Goexit instead of returning")
)

// settle performs a call, and abandons it if it does not end soon after ctx is done.
func settle(ctx context.Context, perform func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	var result json.RawMessage
	err := tools.Fatal(errGoexit)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		result, err = perform(ctx)
	}()
	select {
	case <-ended:
		return result, err
	case <-ctx.Done():
	}
	select {
	case <-ended:
		return result, err
	case <-time.After(abandonAfter):
		return nil, errAbandoned
	}
}
