package main

import (
	"context"
	"os"
	"time"
)

// stamp tells one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

func (c *catalog) stamp() stamp {
	info, err := os.Stat(c.path)
	if err != nil || !info.Mode().IsRegular() {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// known notes which state of the file is read.
func (c *catalog) known(s stamp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = s
}

// stale reports whether the file is there in another state than was read.
func (c *catalog) stale() bool {
	s := c.stamp()
	c.mu.Lock()
	defer c.mu.Unlock()
	return s != c.read && s != stamp{}
}

// watch keeps the catalog up to date until ctx is done: the configuration is read
// again when its file changes and when hup says so, and servers are listed again
// when they say that their tools have changed. It calls changed after each change.
func (c *catalog) watch(ctx context.Context, hup <-chan os.Signal, changed func()) {
	if c.path == "" {
		return
	}
	tick := time.NewTicker(c.look)
	defer tick.Stop()
	for {
		update := c.relist
		select {
		case <-ctx.Done():
			return
		case <-c.refresh:
		case <-hup:
			update = c.reload
		case <-tick.C:
			if !c.stale() {
				continue
			}
			update = c.reload
		}
		if err := update(ctx); err != nil {
			c.log.Error("the tools stay as they were", "config", c.path, "err", err)
			continue
		}
		c.log.Info("the tools are up to date", "config", c.path, "tools", len(c.current().all.tools))
		changed()
	}
}
