package mcptools

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/writ-go/writ/tools/mcptools/internal/stdio"
)

// State is a server's state.
type State string

// The states of a server.
const (
	Starting State = "starting" // starting, or in the handshake
	Ready    State = "ready"    // connected
	Failed   State = "failed"   // not connected; the next use after Status.Retry tries again
	Closed   State = "closed"   // after Servers.Close
)

// Status is the status of one server.
type Status struct {
	// Name is the server's name in the configuration.
	Name string

	// State is the current state.
	State State

	// Err says why the server cannot be used, and what to do. It is nil if the server can
	// be used. A failed server is tried again when it is next used after Retry; with
	// Options.Background, at Retry.
	Err   error
	Retry time.Time

	// Restarts is how often the server was lost and connected again.
	Restarts int

	// ProtocolVersion is the last connection's version, such as "2025-11-25"; empty until the server has connected.
	ProtocolVersion string

	// Tools is the number of tools in the last listing.
	Tools int

	// Noise is the number of lines on stdout that were skipped because they are not messages.
	Noise int

	// Stderr is the end of what the server wrote to stderr, up to 8 KiB.
	Stderr string
}

// A pause before each attempt limits how often a failing server is started. The first loss of a connection causes no
// pause. Each further consecutive failure doubles the pause.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// health records the failures of a server.
type health struct {
	log *slog.Logger

	mu           sync.Mutex
	state        State
	version      string
	connected    int   // how often the server has connected
	err          error // why the server is not connected
	failedStarts int   // consecutive failed starts
	losses       int   // consecutive lost connections; a response to a call resets the number
	retry        time.Time
	process      *stdio.Server // the last process
}

func (h *health) starting() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = Starting
}

// setProcess records the process, whose output is part of the status.
func (h *health) setProcess(p *stdio.Server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.process = p
}

func (h *health) ready(name, version string) {
	h.mu.Lock()
	h.state, h.err, h.retry, h.version = Ready, nil, time.Time{}, version
	h.failedStarts = 0
	h.connected++
	h.mu.Unlock()
	h.log.Info("mcp server connected", "server", name, "protocol", version)
}

// failed records a failure: a failed start or, if lost is set, the loss of a connection.
func (h *health) failed(name string, err error, lost bool) {
	h.mu.Lock()
	if lost {
		h.losses++
	} else {
		h.failedStarts++
	}
	h.state, h.err = Failed, err
	h.retry = time.Now().Add(pause(h.failedStarts + max(0, h.losses-1)))
	h.mu.Unlock()
	h.log.Error("mcp server failed", "server", name, "error", err)
}

// worked records a response to a call, which ends a series of failures.
func (h *health) worked() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failedStarts, h.losses = 0, 0
}

func (h *health) closed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = Closed
}

// pause returns how long to wait after n failures in a row.
func pause(n int) time.Duration {
	if n == 0 {
		return 0
	}
	d := firstPause
	for ; n > 1 && d < lastPause; n-- {
		d *= 2
	}
	return min(d, lastPause)
}

// allowed returns an error if it is too early to start the server.
func (h *health) allowed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if left := time.Until(h.retry); left > 0 {
		return &pauseError{failedStarts: h.failedStarts, losses: h.losses, left: left, until: h.retry, last: h.err}
	}
	return nil
}

// pauseError reports that a server has failed too often to be started again immediately.
type pauseError struct {
	failedStarts, losses int
	left                 time.Duration // until the next attempt, when the error was created
	until                time.Time
	last                 error
}

func (e *pauseError) Error() string {
	what, n := "failed starts", e.failedStarts
	if n == 0 {
		what, n = "lost connections", e.losses
	}
	return fmt.Sprintf("it failed and will be tried again in %v (%s in a row: %d): %v",
		e.left.Round(time.Millisecond), what, n, e.last)
}
func (e *pauseError) Unwrap() error { return e.last }

// RetryAfter returns the time until the server is tried again: see policy.Retry.
func (e *pauseError) RetryAfter() time.Duration { return time.Until(e.until) }

func (h *health) fill(s *Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.State, s.Err, s.Retry = h.state, h.err, h.retry
	s.ProtocolVersion, s.Restarts = h.version, max(0, h.connected-1)
	if h.process != nil {
		s.Noise, s.Stderr = h.process.Noise(), h.process.Stderr()
	}
}
