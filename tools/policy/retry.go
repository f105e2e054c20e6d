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

// RetryOptions configures [Retry]. Nil is the defaults.
type RetryOptions struct {
	// Tries is how often the tool is called at most. Zero is 3.
	Tries int

	// Delay is how long to wait before the second try, give or take a quarter;
	// it doubles from try to try. Zero is 200 ms.
	Delay time.Duration

	// MaxDelay bounds the waiting before a try. Where an error says that a try
	// will not help before a longer time ([tools.RetryAfter]), there is none.
	// Zero is 5 s.
	MaxDelay time.Duration

	// Also, if set, says which answers of the tool (errors of kind
	// [tools.KindFailed], or of a kind of its own) will pass, such as that there
	// were too many requests. It is asked for tools that may be repeated only.
	Also func(*tools.ToolError) bool
}

// Retry calls a tool again, after a while, if the call failed in a way that may
// pass.
//
// If it was without any effect ([tools.KindUnavailable]), that goes for every
// tool. If that is not known ([tools.KindTimeout], [tools.KindUnknown]), it goes
// for those only that may be repeated: of class Read or Idempotent, or
// Repeatable. If an error says when a try may help ([tools.RetryAfter]), as that
// of an MCP server does which is started again, there is none before. The last
// error says how many tries there were.
func Retry(o *RetryOptions) tools.Policy {
	o = cmp.Or(o, &RetryOptions{})
	if o.Tries < 0 || min(o.Delay, o.MaxDelay) < 0 {
		return broken("Retry: an option is negative: Tries %d, Delay %v, MaxDelay %v", o.Tries, o.Delay, o.MaxDelay)
	}
	tries, longest := cmp.Or(o.Tries, 3), cmp.Or(o.MaxDelay, 5*time.Second)
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		delay := min(cmp.Or(o.Delay, 200*time.Millisecond), longest)
		for try := 1; ; try++ {
			result, err := next.Call(ctx, c)
			after := least(err)
			if try == tries || !o.passes(c.Tool.Hints, err) || after > longest || !pause(ctx, max(jitter(delay), after)) {
				return result, tried(err, try)
			}
			delay = min(2*delay, longest)
		}
	})
}

// passes reports whether another try is allowed and may help.
func (o *RetryOptions) passes(h tools.Hints, err error) bool {
	te, ok := errors.AsType[*tools.ToolError](err)
	if !ok || tools.IsFatal(err) {
		return false
	}
	repeatable := h.Class == tools.Read || h.Class == tools.Idempotent || h.Repeatable
	switch te.Kind {
	case tools.KindUnavailable:
		return true
	case tools.KindTimeout, tools.KindUnknown:
		return repeatable
	default:
		return repeatable && o.Also != nil && tools.StateOf(te) == tools.StateFailed && o.Also(te)
	}
}

// least is how long it takes at least until another try may help.
func least(err error) time.Duration {
	if later, ok := errors.AsType[tools.RetryAfter](err); ok {
		return later.RetryAfter()
	}
	return 0
}

// jitter keeps calls that failed together from trying again together.
func jitter(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1)
}

// tried says in an error how many tries there were.
func tried(err error, tries int) error {
	te, ok := errors.AsType[*tools.ToolError](err)
	if !ok || tries == 1 || tools.IsFatal(err) {
		return err
	}
	c := *te
	c.Message = fmt.Sprintf("%s (tried %d times)", te.Message, tries)
	return &c
}
