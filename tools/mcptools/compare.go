package mcptools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/tools"
)

// comparison is a listing for the sake of tools that a Set has already: a server
// that was started again may be another version of it. All whose calls are the
// first on a connection wait for the same one.
type comparison struct {
	done chan struct{}
	err  error
}

// compare returns once the tools of the connection are known. ctx bounds only
// the waiting. Where nothing is refused, a listing that fails is no error.
func (c *connection) compare(ctx context.Context) error {
	c.mu.Lock()
	if c.comparison == nil {
		c.comparison = &comparison{done: make(chan struct{})}
		go c.relist(c.comparison)
	}
	this := c.comparison
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return fmt.Errorf("waiting for its tools to be listed again: %w", context.Cause(ctx))
	case <-this.done:
	}
	if this.err == nil || !c.server.o.RefuseChanged && !isLost(this.err) {
		return nil
	}
	return &relistError{this.err}
}

// relistError says that nothing is known of the tools on a new connection.
type relistError struct{ err error }

func (e *relistError) Error() string { return e.err.Error() }
func (e *relistError) Unwrap() error { return e.err }

// compared notes that the tools of the connection are known.
func (c *connection) compared() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.comparison == nil {
		c.comparison = &comparison{done: make(chan struct{})}
		close(c.comparison.done)
	}
}

// relist lists the tools, and tells the host if they are not what they were. A
// listing that fails is made again for the next call.
func (c *connection) relist(this *comparison) {
	defer close(this.done)
	s := c.server
	s.mu.Lock()
	said := s.listed
	s.mu.Unlock()
	l, err := c.list(s.life)
	changed := s.noteListing(s.life, c, l, err)
	if this.err = err; err != nil {
		c.mu.Lock()
		c.comparison = nil
		c.mu.Unlock()
		return
	}
	for _, w := range l.warnings.texts {
		if !slices.Contains(said.texts, w) {
			s.o.Logger.Warn(w)
		}
	}
	if changed {
		s.notices.toolsChanged()
	}
}

// refusal is why the tool is not to be called as it is now; nil if it may be.
func (r *remote) refusal() error {
	r.server.mu.Lock()
	why := r.server.refused[r.name]
	r.server.mu.Unlock()
	if why == "" {
		return nil
	}
	te := &tools.ToolError{Kind: tools.KindDenied, Message: why + "; nothing was done"}
	return te.WithCause(r.named(errors.New(why + "; if it is well as it is now, give what Servers.Pins says of it as Options.Pins")))
}
