package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/mcptools/serve"
)

// catalog has the tools that programs may call, as they are now. A program keeps
// those that it began with; servers that were replaced are closed when the last
// program that uses them has ended.
type catalog struct {
	path    string // of the configuration; "" for no tools
	options mcptools.Options
	log     *slog.Logger
	hidden  *hidden
	refresh chan struct{} // a server has other tools
	look    time.Duration // how often the configuration file is looked at

	mu   sync.Mutex
	now  *snapshot
	read stamp // of the file when it was read last
}

// snapshot is one state of the catalog.
type snapshot struct {
	servers *shared // nil if there are none
	all     source
	guard   tools.Policy // around all calls

	mu    sync.Mutex
	views map[string]*view
}

// openCatalog connects to the servers of a configuration file.
func openCatalog(ctx context.Context, path string, h *hidden, o mcptools.Options) (*catalog, error) {
	c := &catalog{path: path, options: o, log: o.Logger, hidden: h, refresh: make(chan struct{}, 1), look: time.Second, now: &snapshot{}}
	c.options.OnToolsChanged = func(string) {
		select {
		case c.refresh <- struct{}{}:
		default:
		}
	}
	if path == "" {
		return c, nil
	}
	return c, c.reload(ctx)
}

// reload reads the configuration again and connects to the servers in it. On an
// error all stays as it was.
func (c *catalog) reload(ctx context.Context) error {
	c.known(c.stamp()) // before it is read: what is written meanwhile is another state
	if info, err := os.Stat(c.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file; reading it might not end", c.path)
	}
	config, err := mcptools.ReadConfig(c.path, &c.options)
	if err != nil {
		return err
	}
	if err := c.hidden.add(config); err != nil {
		return err
	}
	servers, err := mcptools.Start(ctx, config, &c.options)
	if err != nil {
		return err
	}
	next := &shared{Servers: servers}
	if err := c.list(ctx, next); err != nil {
		return errors.Join(err, servers.Close())
	}
	return nil
}

// list makes the tools that the servers have now those of the catalog.
func (c *catalog) list(ctx context.Context, servers *shared) error {
	all, err := servers.Tools(ctx)
	if err != nil {
		return err
	}
	next := &snapshot{servers: servers, all: source{all, servers.Warnings()}, guard: c.hidden.policy()}
	v, err := next.view(local)
	if err != nil {
		return err
	}
	for _, w := range v.set.Warnings() {
		c.log.Warn(w)
	}
	c.mu.Lock()
	last := c.now
	c.now = next
	c.mu.Unlock()
	if last.servers != nil && last.servers != servers {
		last.servers.retire()
	}
	return nil
}

// relist asks the servers for their tools again.
func (c *catalog) relist(ctx context.Context) error {
	s := c.current()
	if s.servers == nil {
		return nil
	}
	return c.list(ctx, s.servers)
}

func (c *catalog) current() *snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// use returns the tools that a principal may use, to be released after use.
func (c *catalog) use(p serve.Principal) (*view, func(), error) {
	c.mu.Lock()
	s := c.now
	if s.servers != nil {
		s.servers.use(1)
	}
	c.mu.Unlock()
	release := func() {
		if s.servers != nil {
			s.servers.use(-1)
		}
	}
	v, err := s.view(p)
	if err != nil {
		release()
		return nil, nil, err
	}
	return v, release, nil
}

// everything is what somebody may use who may use all.
func (c *catalog) everything() *view {
	v, err := c.current().view(local)
	if err != nil {
		panic(err) // unreachable: list has made the same
	}
	return v
}

// toolsOf names the tools of a server.
func (c *catalog) toolsOf(server string) string {
	var names []string
	for _, t := range c.current().all.tools {
		if t.Namespace == server {
			names = append(names, t.Name)
		}
	}
	return cut(strings.Join(names, ", "), 500)
}

// status is how the servers do.
func (c *catalog) status() []mcptools.Status {
	if s := c.current(); s.servers != nil {
		return s.servers.Status()
	}
	return nil
}

func (c *catalog) close() {
	if s := c.current(); s.servers != nil {
		s.servers.retire()
	}
}
