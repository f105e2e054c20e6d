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

// Scope says what has a rate of its own.
type Scope int

// What the calls are counted for.
const (
	PerTool   Scope = iota // each tool
	PerServer              // the tools of each server together; the host's own count as one
	Overall                // all tools together
)

// RateOptions configures [Rate]. Nil is the defaults.
type RateOptions struct {
	// Scope is what has this rate. The default is each tool.
	Scope Scope

	// Burst is how many calls may follow each other at once. Zero is as many as
	// there may be in the whole period.
	Burst int

	// MaxWait is how long a call may be kept waiting; those that would have to
	// wait longer are refused. Zero is as long as the run lasts; less than zero,
	// none waits.
	MaxWait time.Duration
}

// Rate bounds how often tools are called: so many calls in a period, evenly.
// What it counts is shared by all runs and sets with the policy.
func Rate(calls int, period time.Duration, o *RateOptions) tools.Policy {
	o = cmp.Or(o, &RateOptions{})
	if calls <= 0 || period <= 0 || o.Burst < 0 {
		return broken("Rate needs a positive number of calls and time, and no negative Burst, not %d, %v and %d", calls, period, o.Burst)
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

// of returns what a tool is counted for, as a key and for the model.
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

// limiters are made as they are needed.
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
