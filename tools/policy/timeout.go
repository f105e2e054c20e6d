package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/writ-go/writ/tools"
)

// errTime is why the context of a call that took too long is cancelled.
var errTime = fmt.Errorf("policy: no answer in time: %w", context.DeadlineExceeded)

// Timeout ends calls that take longer than d: their context is cancelled, and
// the program gets an error of kind [tools.KindTimeout] at once, even if the
// tool takes no notice and goes on. The error is Fatal if d is not positive.
//
// It should be the innermost policy: time spent in others is no time of the
// tool's.
func Timeout(d time.Duration) tools.Policy {
	if d <= 0 {
		return broken("Timeout needs a positive time, not %v", d)
	}
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		within, cancel := context.WithTimeoutCause(ctx, d, errTime)
		defer cancel()
		late := time.NewTimer(d) // within ends early if ctx does, and then the tool has its time to notice
		defer late.Stop()
		ended := make(chan end, 1)
		go perform(within, c, next, ended)
		select {
		case e := <-ended:
			if e.panic != nil {
				panic(e.panic)
			}
			if ctx.Err() != nil || within.Err() == nil || tools.IsFatal(e.err) || tools.OutcomeOf(e.err) != tools.MaybeDone {
				return e.result, e.err
			}
		case <-late.C:
		}
		te := &tools.ToolError{Kind: tools.KindTimeout, Message: fmt.Sprintf("no answer within %v; whether it took effect is unknown", d)}
		return nil, te.WithCause(errTime)
	})
}

// end is how a call on another goroutine ended.
type end struct {
	result json.RawMessage
	err    error
	panic  error
}

// perform calls next and tells how that ended, also if it did not return.
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

// errGone is of handlers that call runtime.Goexit, as t.FailNow does.
var errGone = errors.New("policy: the call ended its goroutine instead of returning")
