package mcptools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

// Servers is a group of MCP servers. It is a [tools.Source] and is safe for concurrent use. The
// caller that opened it must Close it.
type Servers struct {
	servers  []*server
	warnings []string
	closed   chan struct{}
	once     sync.Once
	closeErr error
}

var _ tools.Source = (*Servers)(nil)

var errClosed = errors.New("mcp servers are closed")

// Open starts a configuration file's servers, in parallel, and returns when each has connected or failed. [ParseConfig]
// describes the file. With [Options.Background] it returns at once and the servers start in the background.
//
// A server that ends later, or whose session is lost, is restarted or reconnected when one of its tools is next called,
// or the tools are next listed. A server that keeps failing is tried again at growing intervals of up to a minute.
//
// The failure of one server is not an error: its tools are missing until it works, and [Servers.Status] says why. Open
// returns an error if the file is missing or malformed, if every server failed, or if ctx is done; in that case, no
// server is left running. The context applies only to connecting.
func Open(ctx context.Context, path string, o *Options) (*Servers, error) {
	c, err := ReadConfig(path)
	if err != nil {
		return nil, err
	}
	return Start(ctx, c, o)
}

// Start is like [Open], for a Config instead of a file. It does not start disabled servers.
func Start(ctx context.Context, c *Config, o *Options) (*Servers, error) {
	if c == nil {
		return nil, errors.New("mcp servers: the configuration is nil")
	}
	all := o.withDefaults()
	s := &Servers{warnings: c.warnings(), closed: make(chan struct{})}
	for _, config := range c.Servers {
		if !config.Disabled {
			s.servers = append(s.servers, newServer(ctx, config, nil, &all))
		}
	}
	return s.connect(ctx)
}

// Connect connects to servers that the caller runs, for example in the same process. The keys of transports are the
// server names. Connect returns the same errors as [Start]. After a lost connection, the transport's Connect is called
// again, unless it is one of the SDK's transports for a stream or a command, which can connect only once. The SDK's
// transports over HTTP are rejected, because they lack this package's limits: use [Start] with the server's URL.
func Connect(ctx context.Context, transports map[string]mcp.Transport, o *Options) (*Servers, error) {
	all := o.withDefaults()
	s := &Servers{closed: make(chan struct{})}
	for _, name := range slices.Sorted(maps.Keys(transports)) {
		switch transports[name].(type) {
		case nil:
			return nil, fmt.Errorf("mcp server %q: its transport is nil", name)
		case *mcp.StreamableClientTransport, *mcp.SSEClientTransport:
			return nil, fmt.Errorf("mcp server %q: use Start with its URL instead of a transport over HTTP", name)
		}
		s.servers = append(s.servers, newServer(ctx, ServerConfig{Name: name}, transports[name], &all))
	}
	return s.connect(ctx)
}

func (s *Servers) connect(ctx context.Context) (*Servers, error) {
	if len(s.servers) == 0 {
		return s, nil
	}
	o := s.servers[0].o
	s.checkNames("Trust", o.Trust)
	if o.Background {
		for _, srv := range s.servers {
			go srv.refresher.run()
		}
		return s, nil
	}
	errs := each(s.servers, func(srv *server) error {
		_, err := srv.live(ctx)
		return err
	})
	var err error
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("mcp servers: connecting was canceled: %w", context.Cause(ctx))
	case len(errs) > 0 && !slices.Contains(errs, nil):
		err = fmt.Errorf("all mcp servers failed:\n%w", errors.Join(errs...))
	default:
		return s, nil
	}
	for _, w := range s.warnings { // the caller gets no Servers that could return them
		o.Logger.WarnContext(ctx, w)
	}
	_ = s.Close()
	return nil, err
}

// Wait waits until every server's tools have been listed once, or their listing has failed. It returns an error if the
// servers are closed or ctx is done. It is meant for [Options.Background]; without it, Wait returns at once.
func (s *Servers) Wait(ctx context.Context) error {
	for _, srv := range s.servers {
		if srv.refresher == nil {
			continue
		}
		select {
		case <-srv.refresher.tried:
		case <-s.closed:
			return errClosed
		case <-ctx.Done():
			return fmt.Errorf("mcp servers: waiting for their tools: %w", context.Cause(ctx))
		}
	}
	return nil
}

// checkNames warns about names in an option that no server has.
func (s *Servers) checkNames(option string, names []string) {
	for _, name := range names {
		if !slices.ContainsFunc(s.servers, func(srv *server) bool { return srv.name == name }) {
			s.warnings = append(s.warnings,
				fmt.Sprintf("Options.%s names %q, but there is no enabled mcp server of that name", option, name))
		}
	}
}

// each runs f for all servers concurrently and returns the errors in order.
func each(servers []*server, f func(*server) error) []error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, srv := range servers {
		wg.Go(func() { errs[i] = f(srv) })
	}
	wg.Wait()
	return errs
}

// Tools returns all servers' tools, in the order of the configuration. A tool's namespace is its server's name. Unless
// [Options.Background] is set, Tools lists every server's tools again and starts servers that are not running. A failed
// server keeps the tools from its last listing, and [Servers.Status] says what is wrong. Tools returns an error if the
// servers are closed or ctx is done.
//
// The tools are valid until Close. Their Hints are empty unless Options.Trust names the server: only the host decides
// what effects a call has.
func (s *Servers) Tools(ctx context.Context) ([]*tools.Tool, error) {
	select {
	case <-s.closed:
		return nil, errClosed
	default:
	}
	if len(s.servers) > 0 && !s.servers[0].o.Background {
		each(s.servers, func(srv *server) error {
			_, err := srv.relist(ctx)
			return err // the server's status has the error
		})
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mcp servers: listing tools: %w", err)
	}
	var all []*tools.Tool
	for _, srv := range s.servers {
		all = append(all, srv.lastTools()...)
	}
	return all, nil
}

// Status returns each server's status, in the order of the configuration.
func (s *Servers) Status() []Status {
	list := make([]Status, len(s.servers))
	for i, srv := range s.servers {
		list[i] = srv.status()
	}
	return list
}

// Warnings returns messages about problems that are not errors: servers that are not available, configuration keys that
// have no effect, listings that were cut short, tools that were left out, and invalid output schemas.
func (s *Servers) Warnings() []string {
	list := slices.Clone(s.warnings)
	for _, srv := range s.servers {
		if status := srv.status(); status.Err != nil {
			list = append(list, status.Err.Error())
		}
		list = append(list, srv.allWarnings()...)
	}
	return list
}

// Close stops all servers, with everything that they started, and waits until they are
// gone, which takes little more than twice [Options.Grace]. Calls in flight fail. The error
// names processes that could not be stopped. Close may be called more than once; it then
// returns the same error.
func (s *Servers) Close() error {
	s.once.Do(func() {
		close(s.closed)
		s.closeErr = errors.Join(each(s.servers, (*server).close)...)
	})
	return s.closeErr
}
