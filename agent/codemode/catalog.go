package codemode

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
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/search"
)

// catalog holds the tools that programs may call now. A program keeps the tools that it started
// with; servers that were replaced are closed when the last program that uses them has ended.
type catalog struct {
	config  string // the path of the configuration; may be empty
	options mcptools.Options
	log     *slog.Logger
	secrets *secrets
	startup time.Duration // how long to wait for servers; clients are notified when slower servers add their tools
	poll    time.Duration // interval between checks of the configuration file for changes
	budget  int           // maximum length of the declarations, in tokens
	meaning search.Embedder
	refresh chan struct{} // signals that a server's tools have changed
	reloads chan struct{} // signals that the configuration must be read again
	ready   chan struct{} // closed when the first tools have been listed, or startup is over

	saved func(*tools.Set) (*tools.Set, []error) // adds the saved programs

	changing sync.Mutex // held while a snapshot is replaced
	mu       sync.Mutex
	now      *snapshot
	read     stamp // of the configuration when it was last read
}

// snapshot is one state of the catalog.
type snapshot struct {
	own     *tools.Set
	servers *shared // nil without a configuration
	listed  source  // the tools of servers
	guard   tools.Policy
	saved   func(*tools.Set) (*tools.Set, []error) // as in catalog
	meaning search.Embedder                        // may be nil
	log     *slog.Logger

	warnings []string

	mu    sync.Mutex
	views map[string]*view
}

// openCatalog starts to connect to the configured servers. [catalog.watch] adds their tools.
func openCatalog(ctx context.Context, s *Server, poll time.Duration) (*catalog, error) {
	o := s.options
	c := &catalog{
		config: o.Config, log: s.log, secrets: s.secrets, startup: o.Startup, poll: poll, budget: o.Declarations,
		refresh: make(chan struct{}, 1), reloads: make(chan struct{}, 1), ready: make(chan struct{}),
		meaning: search.Cached(o.Embedder), now: &snapshot{},
		saved: func(set *tools.Set) (*tools.Set, []error) { return s.savedPrograms(ctx, set) },
	}
	if o.Servers != nil {
		c.options = *o.Servers
	}
	c.options.Logger, c.options.Background = s.log, true
	c.options.OnToolsChanged = func(string) { notify(c.refresh) }
	if c.config == "" {
		close(c.ready)
		return c, c.replace(o.Tools)
	}
	servers, err := c.start(ctx)
	if err == nil {
		err = errors.Join(c.list(ctx, servers), c.replace(o.Tools))
	}
	if err != nil && servers != nil {
		err = errors.Join(err, servers.Close())
	}
	return c, err
}

// notify sends a notification, unless one is already waiting.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// readConfig reads a configuration file. It rejects other kinds of files, because reading from a pipe might never end.
func readConfig(path string) (*mcptools.Config, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return mcptools.ReadConfig(path)
}

// start reads the configuration and starts to connect to the servers in it.
func (c *catalog) start(ctx context.Context) (*shared, error) {
	c.setRead(c.stamp()) // before reading, so that the next check notices a change in the meantime
	config, err := readConfig(c.config)
	if err != nil {
		return nil, err
	}
	if err := c.secrets.add(config.Secrets()); err != nil {
		return nil, err
	}
	options := c.options
	options.Secrets = c.secrets.known.Load()
	servers, err := mcptools.Start(ctx, config, &options)
	if err != nil {
		return nil, err
	}
	return &shared{Servers: servers}, nil
}

// reload replaces the servers with those in the current configuration. It returns an error, and changes nothing,
// if none of the new servers can be used.
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

// await waits for the servers' tools, but no longer than startup.
func (c *catalog) await(ctx context.Context, servers *shared) error {
	ctx, cancel := context.WithTimeout(ctx, c.startup)
	defer cancel()
	return servers.Wait(ctx)
}

// unusable returns an error if no server can be used.
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

// settle waits for the servers, but no longer than startup, and lists the tools for the first time.
func (c *catalog) settle(ctx context.Context) error {
	servers := c.current().servers
	_ = c.await(ctx, servers) // slower servers' tools are added later
	return c.list(ctx, servers)
}

func (c *catalog) relist(ctx context.Context) error { return c.list(ctx, c.current().servers) }

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

// list replaces the catalog's tools with the servers' current tools.
func (c *catalog) list(ctx context.Context, servers *shared) error {
	all, err := servers.Tools(ctx)
	if err != nil {
		return err
	}
	listed := source{all, servers.Warnings()}
	return c.change(func(last *snapshot) *snapshot {
		if last.servers == servers && last.listed.equal(listed) {
			return last
		}
		return &snapshot{own: last.own, servers: servers, listed: listed, guard: c.secrets.policy()}
	})
}

func (c *catalog) replace(own *tools.Set) error {
	return c.change(func(last *snapshot) *snapshot {
		return &snapshot{own: own, servers: last.servers, listed: last.listed, guard: last.guard}
	})
}

// change replaces the current snapshot with the one that next returns. It returns an error, and changes nothing, if the
// new snapshot's tools cannot be used.
func (c *catalog) change(next func(last *snapshot) *snapshot) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	last := c.current()
	s := next(last)
	if s == last {
		return nil
	}
	s.saved, s.meaning, s.log = c.saved, c.meaning, c.log
	v, err := s.view(local)
	if err != nil {
		return err
	}
	v.declarations(c.budget) // compiles the schemas; clients need the declarations anyway
	warnings := v.set.Warnings()
	if s.servers == nil || len(s.listed.tools) > 0 { // before that, all saved programs lack tools
		for _, err := range v.leftOut {
			warnings = append(warnings, err.Error())
		}
	}
	for _, w := range warnings {
		if !slices.Contains(s.warnings, w) { // a set repeats the warnings of its sources
			s.warnings = append(s.warnings, w)
		}
	}
	c.mu.Lock()
	c.now = s
	c.mu.Unlock()
	for _, w := range s.warnings {
		if !slices.Contains(last.warnings, w) {
			c.log.Warn(w)
		}
	}
	if last.servers != nil && last.servers != s.servers {
		last.servers.retire()
	}
	return nil
}

// awaitReady makes tools/list and tools/call wait until the first tools are known. Other methods do not wait.
func (c *catalog) awaitReady(next mcp.MethodHandler) mcp.MethodHandler {
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

func (c *catalog) current() *snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// use returns the tools that a principal may use, and a function that the caller must call when it no longer uses them.
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
		panic(err) // unreachable: change has made this view before
	}
	return v
}

// toolsOf returns the names of a server's tools.
func (c *catalog) toolsOf(server string) string {
	var names []string
	for _, t := range c.current().listed.tools {
		if t.Namespace == server {
			names = append(names, t.Name)
		}
	}
	return cut(strings.Join(names, ", "), 500)
}

func (c *catalog) status() []mcptools.Status {
	if s := c.current(); s.servers != nil {
		return s.servers.Status()
	}
	return nil
}

func (c *catalog) close() error {
	if s := c.current(); s.servers != nil {
		s.servers.retire()
	}
	return nil
}

// shared is a group of servers that closes when it has been retired and has no more users.
type shared struct {
	*mcptools.Servers
	mu      sync.Mutex
	users   int
	retired bool
}

// use adds n users, or removes them if n is negative.
func (s *shared) use(n int) {
	s.mu.Lock()
	s.users += n
	unused := s.retired && s.users == 0
	s.mu.Unlock()
	if unused {
		s.Close()
	}
}

func (s *shared) retire() {
	s.use(1)
	s.mu.Lock()
	s.retired = true
	s.mu.Unlock()
	s.use(-1)
}
