package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/writ-go/writ/tools"
	"golang.org/x/time/rate"
)

// RateOptions configures [Rate]. Nil means the defaults.
type RateOptions struct {
	// MaxWait is the longest time that a call may wait. Calls that would have to wait
	// longer are refused. Zero means that a call may wait until the run ends. If MaxWait is negative, no call
	// waits.
	MaxWait time.Duration
}

// Rate limits the number of calls that reach it in a period, for all tools together. Use [If] to
// limit the calls of one tool or server. All runs and sets with the policy
// share the limit.
func Rate(calls int, period time.Duration, o *RateOptions) tools.Policy {
	o = cmp.Or(o, &RateOptions{})
	if calls <= 0 || period <= 0 {
		return broken("Rate needs a positive number of calls and a positive period; got %d and %v", calls, period)
	}
	limiter := rate.NewLimiter(rate.Limit(float64(calls)/period.Seconds()), calls)
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		reservation := limiter.Reserve()
		wait := reservation.Delay()
		if o.MaxWait != 0 && wait > max(o.MaxWait, 0) || wait > 0 && !pause(ctx, wait) {
			reservation.Cancel()
			return nil, refusal("at most %d calls in %v are allowed; the next call is possible in %v",
				calls, period, wait.Round(time.Millisecond))
		}
		return next.Call(ctx, c)
	})
}
