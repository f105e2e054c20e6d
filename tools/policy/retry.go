package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/writ-go/writ/tools"
)

// RetryOptions configures [Retry]. Nil means the defaults.
type RetryOptions struct {
	// Tries is the maximum number of calls to the tool. Zero means 3.
	Tries int

	// Delay is the time before the second try, with a random variation of a quarter. It
	// doubles for each further try. Zero means 200 ms.
	Delay time.Duration

	// MaxDelay is the maximum time before a try, without the variation. If an error asks for
	// a longer time, Retry gives up. Zero means 5 s.
	MaxDelay time.Duration
}

// Retry calls a tool again after a delay if the call failed with a temporary error.
//
// If nothing was done ([tools.KindUnavailable]), it retries calls to every tool. If it is unknown whether anything was
// done ([tools.KindTimeout], [tools.KindUnknown]), it retries only tools that may be repeated: tools of class Read or
// Idempotent, and Repeatable tools. If an error, or the cause of a ToolError, has a method RetryAfter() time.Duration,
// Retry waits at least that long. The last error says how many tries there were.
func Retry(o *RetryOptions) tools.Policy {
	o = cmp.Or(o, &RetryOptions{})
	if o.Tries < 0 || min(o.Delay, o.MaxDelay) < 0 {
		return broken("Retry options must not be negative: Tries %d, Delay %v, MaxDelay %v",
			o.Tries, o.Delay, o.MaxDelay)
	}
	tries, longest := cmp.Or(o.Tries, 3), cmp.Or(o.MaxDelay, 5*time.Second)
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		delay := min(cmp.Or(o.Delay, 200*time.Millisecond), longest)
		for try := 1; ; try++ {
			result, err := next.Call(ctx, c)
			after := retryAfter(err)
			if try == tries || !temporary(c.Tool.Hints, err) || after > longest ||
				!pause(ctx, max(jitter(delay), after)) {
				return result, tried(err, try)
			}
			delay = min(2*delay, longest)
		}
	})
}

// temporary reports whether the call may be retried and the error may be temporary.
func temporary(h tools.Hints, err error) bool {
	te, ok := errors.AsType[*tools.ToolError](err)
	if !ok || tools.IsFatal(err) {
		return false
	}
	switch te.Kind {
	case tools.KindUnavailable:
		return true
	case tools.KindTimeout, tools.KindUnknown:
		return h.Class == tools.Read || h.Class == tools.Idempotent || h.Repeatable
	}
	return false
}

// retryAfter returns the time that an error asks to wait.
func retryAfter(err error) time.Duration {
	later, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err)
	if ok {
		return later.RetryAfter()
	}
	return 0
}

// jitter varies a delay, so that calls which failed together are not retried together.
func jitter(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1)
}

// tried adds the number of tries to an error message.
func tried(err error, tries int) error {
	te, ok := errors.AsType[*tools.ToolError](err)
	if !ok || tries == 1 || tools.IsFatal(err) {
		return err
	}
	c := *te
	c.Message = fmt.Sprintf("%s (tried %d times)", te.Message, tries)
	return &c
}
