package main

import (
	"context"
	"os"
	"sync"
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

// watch keeps the catalog up to date until ctx is done. It lists the tools again when
// a server has connected or its tools have changed, and reads the configuration again
// when its file changes or hup receives a signal. It calls changed after each change.
func (c *catalog) watch(ctx context.Context, hup <-chan os.Signal, changed func()) {
	if c.path == "" {
		return
	}
	tick := time.NewTicker(c.look)
	defer tick.Stop()
	ready := sync.OnceFunc(func() { close(c.ready) })
	for update := c.settle; ; {
		if err := update(ctx); ctx.Err() != nil {
			return
		} else if err != nil {
			c.log.Error("the tools stay as they were", "config", c.path, "err", err)
		} else {
			c.log.Info("the tools are up to date", "config", c.path, "tools", len(c.current().all.tools))
			changed()
		}
		ready()
		if update = c.next(ctx, hup, tick.C); update == nil {
			return
		}
	}
}

// next waits until something has changed, and returns what to do about it; nil once
// ctx is done.
func (c *catalog) next(ctx context.Context, hup <-chan os.Signal, tick <-chan time.Time) func(context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.refresh:
			return c.relist
		case <-hup:
			return c.reload
		case <-tick:
			if c.stale() {
				return c.reload
			}
		}
	}
}
