package mcptools

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// State is what a server is doing.
type State string

// The states of a server.
const (
	Idle     State = "idle"     // not started yet, as Options.Lazy wants it
	Starting State = "starting" // starting, or shaking hands
	Ready    State = "ready"    // connected
	Failed   State = "failed"   // not connected; the next use tries again, from Status.Retry on
	Closed   State = "closed"   // after Servers.Close
)

// A server that keeps failing would keep a machine busy with starting it. The
// first loss of a connection costs no wait, every further failure in a row
// twice as much as the one before.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// health is how a server does.
type health struct {
	log *slog.Logger

	mu        sync.Mutex
	state     State
	since     time.Time
	version   string
	starts    int   // that led to a connection
	err       error // why it is not connected
	lastErr   error
	lastErrAt time.Time
	unstarted int // failed starts in a row
	losses    int // of connections in a row; an answered call ends it
	retry     time.Time
	stdio     *stdio // of the last process
}

// enter sets the state; h.mu is held.
func (h *health) enter(state State) { h.state, h.since = state, time.Now() }

func (h *health) starting() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.enter(Starting)
}

// runs notes the process, whose output is part of the status.
func (h *health) runs(s *stdio) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stdio = s
}

func (h *health) connected(name, version string) {
	h.mu.Lock()
	h.enter(Ready)
	h.err, h.retry, h.version = nil, time.Time{}, version
	h.lastErr, h.unstarted = past(h.lastErr), 0
	h.starts++
	h.mu.Unlock()
	h.log.Info("mcp server connected", "server", name, "protocol", version)
}

// failed notes that it could not be started.
func (h *health) failed(name string, err error) {
	h.mu.Lock()
	h.unstarted++
	h.blame(err)
	h.mu.Unlock()
	h.log.Error("mcp server failed", "server", name, "error", err)
}

// crashed notes the loss of a connection.
func (h *health) crashed(name string, err error) {
	h.mu.Lock()
	h.losses++
	h.blame(err)
	h.mu.Unlock()
	h.log.Error("mcp server failed", "server", name, "error", err)
}

// blame notes why it is not connected; h.mu is held.
func (h *health) blame(err error) {
	h.enter(Failed)
	h.err, h.lastErr, h.lastErrAt = err, err, h.since
	h.retry = h.since.Add(wait(h.unstarted + max(0, h.losses-1)))
}

// noted is a failure that leaves it connected, such as that of a listing.
func (h *health) noted(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastErr, h.lastErrAt = err, time.Now()
}

// worked notes that it answered a call: whatever was wrong is over.
func (h *health) worked() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unstarted, h.losses = 0, 0
}

func (h *health) closed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state != Closed {
		h.enter(Closed)
	}
}

// wait is how long a server is left alone that failed n times in a row before.
func wait(n int) time.Duration {
	if n == 0 {
		return 0
	}
	d := firstWait
	for ; n > 1 && d < lastWait; n-- {
		d *= 2
	}
	return min(d, lastWait)
}

// allowed says whether it may be started now.
func (h *health) allowed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if left := time.Until(h.retry); left > 0 {
		return &waitError{unstarted: h.unstarted, losses: h.losses, left: left, until: h.retry, last: h.err}
	}
	return nil
}

// waitError says that a server has failed too often to be started at once.
type waitError struct {
	unstarted, losses int
	left              time.Duration // when it was made
	until             time.Time
	last              error
}

func (e *waitError) Error() string {
	what, n := "failed start", e.unstarted
	if n == 0 {
		what, n = "loss", e.losses
	}
	return fmt.Sprintf("it failed and is tried again in %v (%s %d in a row): %v",
		e.left.Round(time.Millisecond), what, n, e.last)
}
func (e *waitError) Unwrap() error { return e.last }

// RetryAfter implements [tools.RetryAfter].
func (e *waitError) RetryAfter() time.Duration { return time.Until(e.until) }

// fill writes what is known into a status.
func (h *health) fill(s *Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.State, s.Since, s.Retry = h.state, h.since, h.retry
	s.Err, s.LastErr, s.LastErrAt = h.err, h.lastErr, h.lastErrAt
	s.ProtocolVersion, s.Restarts = h.version, max(0, h.starts-1)
	if h.stdio != nil {
		s.Noise, _ = h.stdio.noise.seen()
		s.Stderr = h.stdio.process.stderr.String()
	}
}
