package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	startup time.Duration // how long to wait for servers; the others are announced when they have connected
	ready   chan struct{} // closed when the first tools have been listed, or startup is over

	mu   sync.Mutex
	now  *snapshot
	read stamp // of the file when it was read last
}

// snapshot is one state of the catalog.
type snapshot struct {
	servers *shared // nil if there are none
	all     source
	guard   tools.Policy // around all calls

	warnings []string

	mu    sync.Mutex
	views map[string]*view
}

// openCatalog begins to connect to the servers of a configuration file. Their tools
// follow, see [catalog.watch].
func openCatalog(
	ctx context.Context, path string, h *hidden, startup time.Duration, o mcptools.Options,
) (*catalog, error) {
	c := &catalog{
		path: path, options: o, log: o.Logger, hidden: h, now: &snapshot{},
		refresh: make(chan struct{}, 1), look: time.Second, startup: startup, ready: make(chan struct{}),
	}
	c.options.Background = true
	c.options.OnToolsChanged = func(string) {
		select {
		case c.refresh <- struct{}{}:
		default:
		}
	}
	if path == "" {
		close(c.ready)
		return c, nil
	}
	servers, err := c.start(ctx)
	if err != nil {
		return c, err
	}
	return c, c.list(ctx, servers)
}

// start reads the configuration and begins to connect to the servers in it.
func (c *catalog) start(ctx context.Context) (*shared, error) {
	c.known(c.stamp()) // before it is read: what is written meanwhile is another state
	if info, err := os.Stat(c.path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file; reading it might not end", c.path)
	}
	config, err := mcptools.ReadConfig(c.path, &c.options)
	if err != nil {
		return nil, err
	}
	if err := c.hidden.add(config); err != nil {
		return nil, err
	}
	options := c.options
	options.Secrets = c.hidden.known.Load()
	servers, err := mcptools.Start(ctx, config, &options)
	return &shared{Servers: servers}, err
}

// reload replaces the servers by those that the configuration has now. On an error,
// or if none of them can be used, all stays as it was.
func (c *catalog) reload(ctx context.Context) error {
	next, err := c.start(ctx)
	if err != nil {
		return err
	}
	if c.await(ctx, next) == nil {
		err = unusable(next.Status())
	}
	if err == nil {
		err = c.list(ctx, next)
	}
	if err != nil {
		return errors.Join(err, next.Close())
	}
	return nil
}

// await waits for the tools of servers, for as long as these may take.
func (c *catalog) await(ctx context.Context, servers *shared) error {
	ctx, cancel := context.WithTimeout(ctx, c.startup)
	defer cancel()
	return servers.Wait(ctx)
}

// unusable is an error if no server can be used.
func unusable(all []mcptools.Status) error {
	var errs []error
	for _, s := range all {
		if s.Err == nil {
			return nil
		}
		errs = append(errs, s.Err)
	}
	return errors.Join(errs...)
}

// settle lists the first tools.
func (c *catalog) settle(ctx context.Context) error {
	servers := c.current().servers
	_ = c.await(ctx, servers) // the others follow
	return c.list(ctx, servers)
}

// list makes the tools that the servers have now those of the catalog.
func (c *catalog) list(ctx context.Context, servers *shared) error {
	all, err := servers.Tools(ctx)
	if err != nil {
		return err
	}
	next := &snapshot{servers: servers, all: source{all, servers.Warnings()}, guard: c.hidden.policy()}
	if last := c.current(); last.servers == servers && last.all.equal(next.all) {
		return nil
	}
	v, err := next.view(local)
	if err != nil {
		return err
	}
	c.mu.Lock()
	last := c.now
	c.now, next.warnings = next, v.set.Warnings()
	c.mu.Unlock()
	for _, w := range next.warnings {
		if !slices.Contains(last.warnings, w) {
			c.log.Warn(w)
		}
	}
	if last.servers != nil && last.servers != servers {
		last.servers.retire()
	}
	return nil
}

// complete waits until every server has been listed or has failed.
func (c *catalog) complete(ctx context.Context) error {
	servers := c.current().servers
	if servers == nil {
		return nil
	}
	if err := servers.Wait(ctx); err != nil {
		return err
	}
	return c.list(ctx, servers)
}

// awaited makes lists and calls of tools wait until the first tools are known. Nothing
// else waits, and after that nothing does.
func (c *catalog) awaited(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method == "tools/list" || method == "tools/call" {
			select {
			case <-c.ready:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return next(ctx, method, r)
	}
}

// relist makes the tools that the servers have now those of the catalog.
func (c *catalog) relist(ctx context.Context) error { return c.list(ctx, c.current().servers) }

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

// everything returns the view of a principal that may use all tools.
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
