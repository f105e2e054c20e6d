package mcptools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/tools"
)

// recheck is a listing to check the tools that a Set already has: a server that was started again
// may be another version. The first calls over a connection wait for the same one.
type recheck struct {
	done chan struct{}
	err  error
}

// checkTools returns once the tools of the connection are known. ctx bounds only the waiting. A
// failed listing is an error only with Options.RefuseChanged.
func (c *connection) checkTools(ctx context.Context) error {
	c.mu.Lock()
	if c.check == nil {
		c.check = &recheck{done: make(chan struct{})}
		go c.relist(c.check)
	}
	check := c.check
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return fmt.Errorf("waiting for its tools to be listed again: %w", context.Cause(ctx))
	case <-check.done:
	}
	if check.err == nil || !c.server.o.RefuseChanged && !isLost(check.err) {
		return nil
	}
	return &recheckError{check.err}
}

// recheckError reports that the tools of a new connection are not known.
type recheckError struct{ err error }

func (e *recheckError) Error() string { return e.err.Error() }
func (e *recheckError) Unwrap() error { return e.err }

// checked records that the tools of the connection are known.
func (c *connection) checked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.check == nil {
		c.check = &recheck{done: make(chan struct{})}
		close(c.check.done)
	}
}

// relist lists the tools and tells the host if they have changed. After a failure, the next call
// lists them again.
func (c *connection) relist(check *recheck) {
	defer close(check.done)
	s := c.server
	s.mu.Lock()
	known := s.listed
	s.mu.Unlock()
	l, err := c.list(s.life)
	changed := s.setListing(s.life, c, l, err)
	if check.err = err; err != nil {
		c.mu.Lock()
		c.check = nil
		c.mu.Unlock()
		return
	}
	for _, w := range l.warnings.texts {
		if !slices.Contains(known.texts, w) {
			s.o.Logger.Warn(w)
		}
	}
	if changed {
		s.notifications.toolsChanged()
	}
}

// refusal returns the error for a call of a tool that has changed; nil if it may be called.
func (r *remote) refusal() error {
	r.server.mu.Lock()
	reason := r.server.refused[r.name]
	r.server.mu.Unlock()
	if reason == "" {
		return nil
	}
	te := &tools.ToolError{Kind: tools.KindDenied, Message: reason + "; the call was not made"}
	return te.WithCause(r.named(errors.New(reason + "; to approve it, use its entry of Servers.Pins in Options.Pins")))
}
