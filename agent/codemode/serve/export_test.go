package serve

import (
	"cmp"
	"time"
)

// Limits are the limits of a test. Zero fields mean the usual limits.
type Limits struct {
	Body         int64
	Memory       int64
	Burst        int
	Requests     int
	Sessions     int
	IdleTimeout  time.Duration
	StallTimeout time.Duration
	Connections  int
}

// WithLimits returns options with other limits.
func WithLimits(o Options, l Limits) Options {
	d := defaultLimits
	o.limits = limits{
		body: cmp.Or(l.Body, d.body), values: d.values, memory: cmp.Or(l.Memory, d.memory), burst: l.Burst,
		requests: cmp.Or(l.Requests, d.requests), sessions: cmp.Or(l.Sessions, d.sessions),
		idle: cmp.Or(l.IdleTimeout, d.idle), stall: cmp.Or(l.StallTimeout, d.stall),
		connections: cmp.Or(l.Connections, d.connections),
	}
	return o
}
