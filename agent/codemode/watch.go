package codemode

import (
	"context"
	"os"
	"sync"
	"time"
)

// stamp identifies one version of a file.
type stamp struct {
	modified time.Time
	size     int64
}

func (c *catalog) stamp() stamp {
	info, err := os.Stat(c.config)
	if err != nil || !info.Mode().IsRegular() {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

func (c *catalog) setRead(s stamp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = s
}

// stale reports whether the file exists and has changed since it was read.
func (c *catalog) stale() bool {
	s := c.stamp()
	c.mu.Lock()
	defer c.mu.Unlock()
	return s != c.read && s != stamp{}
}

// watch keeps the configuration's tools up to date until ctx is done. It calls changed after each change.
func (c *catalog) watch(ctx context.Context, changed func()) {
	if c.config == "" {
		return
	}
	tick := time.NewTicker(c.poll)
	defer tick.Stop()
	ready := sync.OnceFunc(func() { close(c.ready) })
	defer ready()
	for update := c.settle; update != nil; update = c.next(ctx, tick.C) {
		if err := update(ctx); ctx.Err() != nil {
			return
		} else if err != nil {
			c.log.Error("cannot update the tools; keeping the current tools", "config", c.config, "err", err)
		} else {
			c.log.Info("the tools are up to date", "config", c.config, "tools", len(c.current().listed.tools))
			changed()
		}
		ready()
	}
}

// next waits for a change and returns the function that updates the tools, or nil when ctx is done.
func (c *catalog) next(ctx context.Context, tick <-chan time.Time) func(context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.refresh:
			return c.relist
		case <-c.reloads:
			return c.reload
		case <-tick:
			if c.stale() {
				return c.reload
			}
		}
	}
}
