package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/writ-go/writ/tools"
	"golang.org/x/time/rate"
)

// Scope selects the calls that are counted together.
type Scope int

// The scopes of a rate.
const (
	PerTool   Scope = iota // the calls of each tool
	PerServer              // the calls of each server; tools without a namespace count as one server
	Overall                // all calls
)

// RateOptions configures [Rate]. Nil means the defaults.
type RateOptions struct {
	// Scope selects the calls that are counted together. The default is PerTool.
	Scope Scope

	// Burst is the number of calls that may be made without waiting. Zero means the
	// number of calls of the whole period.
	Burst int

	// MaxWait is the longest time that a call may wait. Calls that would have to wait
	// longer are refused. Zero means until the run ends. If MaxWait is negative, no call
	// waits.
	MaxWait time.Duration
}

// Rate limits the rate at which tools are called to a number of calls in a period. All runs
// and sets with the policy share the limit.
func Rate(calls int, period time.Duration, o *RateOptions) tools.Policy {
	o = cmp.Or(o, &RateOptions{})
	if calls <= 0 || period <= 0 || o.Burst < 0 {
		return broken("Rate needs a positive number of calls, a positive period and a Burst that is not negative; got %d, "+
			"%v and %d", calls, period, o.Burst)
	}
	limits := limiters{
		rate:  rate.Limit(float64(calls) / period.Seconds()),
		burst: cmp.Or(o.Burst, calls),
		of:    map[string]*rate.Limiter{},
	}
	return of(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		key, whose := o.Scope.of(c.Tool)
		place := limits.get(key).Reserve()
		wait := place.Delay()
		if o.MaxWait != 0 && wait > max(o.MaxWait, 0) || wait > 0 && !pause(ctx, wait) {
			place.Cancel()
			return nil, refusal("%s may be called %d times in %v; the next call is possible in %v",
				whose, calls, period, wait.Round(time.Millisecond))
		}
		return next.Call(ctx, c)
	})
}

// of returns the key under which calls of a tool are counted, and its description for the
// model.
func (s Scope) of(b *tools.Binding) (key, whose string) {
	switch {
	case s == Overall:
		return "", "tools"
	case s == PerTool:
		return b.Namespace + "\x00" + b.Name, b.Path()
	case b.Namespace == "":
		return "", "the tools without a namespace"
	default:
		return b.Namespace, "the tools of " + b.Object
	}
}

// limiters holds a limiter for each key.
type limiters struct {
	rate  rate.Limit
	burst int

	mu sync.Mutex
	of map[string]*rate.Limiter
}

func (l *limiters) get(key string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.of[key]
	if limiter == nil {
		limiter = rate.NewLimiter(l.rate, l.burst)
		l.of[key] = limiter
	}
	return limiter
}
