package policy

import (
	"context"
	"encoding/json"
	"time"

	"github.com/writ-go/writ/tools"
	"golang.org/x/time/rate"
)

// Rate limits the number of calls that reach it in a period, for all tools together. Use [If] to limit the calls to one
// tool or server. All runs and sets with the policy share the limit.
//
// A call waits for its turn for at most maxWait; a call that would have to wait longer is rejected. If maxWait is zero,
// a call may wait until the run ends. If it is negative, no call waits.
func Rate(calls int, period, maxWait time.Duration) tools.Policy {
	if calls <= 0 || period <= 0 {
		return broken("Rate needs a positive number of calls and a positive period; got %d and %v", calls, period)
	}
	limiter := rate.NewLimiter(rate.Limit(float64(calls)/period.Seconds()), calls)
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		reservation := limiter.Reserve()
		wait := reservation.Delay()
		if maxWait != 0 && wait > max(maxWait, 0) || wait > 0 && !pause(ctx, wait) {
			reservation.Cancel()
			return nil, refusal("at most %d calls in %v are allowed; the next call is possible in %v",
				calls, period, wait.Round(time.Millisecond))
		}
		return next.Call(ctx, c)
	})
}
