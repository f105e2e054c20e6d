package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
)

// errTime is the cause with which a call's context is canceled after the timeout.
var errTime = fmt.Errorf("policy: no answer in time: %w", context.DeadlineExceeded)

// Timeout ends calls that take longer than d. It cancels their context, and the program gets
// an error of kind [tools.KindTimeout] at once, even if the tool continues.
//
// Timeout should be the innermost policy, so that it measures only the time of the tool.
func Timeout(d time.Duration) tools.Policy {
	if d <= 0 {
		return broken("Timeout needs a positive time, not %v", d)
	}
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		deadline := time.Now().Add(d)
		within, cancel := context.WithDeadlineCause(ctx, deadline, errTime)
		defer cancel()
		ended := make(chan end, 1)
		go perform(within, c, next, ended)
		e, ok := await(ended, within.Done())
		if !ok && ctx.Err() != nil { // the run has ended; give the tool the rest of its time to return
			e, ok = await(ended, time.After(time.Until(deadline)))
		}
		switch {
		case e.panic != nil:
			panic(e.panic)
		case ok && !(ctx.Err() == nil && within.Err() != nil && e.unclear()):
			return e.result, e.err
		}
		te := &tools.ToolError{Kind: tools.KindTimeout,
			Message: fmt.Sprintf("no answer within %v; whether it took effect is unknown", d)}
		return nil, te.WithCause(errTime)
	})
}

// await returns how the call ended. It returns false if the call did not end in time.
func await[T any](ended <-chan end, late <-chan T) (end, bool) {
	select {
	case e := <-ended:
		return e, true
	case <-late:
		return end{}, false
	}
}

// end is the result of a call on another goroutine.
type end struct {
	result json.RawMessage
	err    error
	panic  error
}

// unclear reports whether the error means that the call's effect is unknown.
func (e *end) unclear() bool {
	return !tools.IsFatal(e.err) && dispatch.StateOf(e.err) == dispatch.StateUnknown
}

// perform calls next and sends the result to ended, even if next panics or calls runtime.Goexit.
func perform(ctx context.Context, c tools.Call, next tools.Caller, ended chan<- end) {
	e := end{err: tools.Fatal(errGone)}
	defer func() {
		if p := recover(); p != nil {
			e.panic = fmt.Errorf("%v\n%s", p, debug.Stack())
		}
		ended <- e
	}()
	e.result, e.err = next.Call(ctx, c)
}

// errGone is the error for calls that end with runtime.Goexit, for example in t.FailNow.
var errGone = errors.New("policy: the call ended with runtime.Goexit instead of returning")
