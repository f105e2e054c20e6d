package mcptools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

// Servers is a group of MCP servers. It is a [tools.Source] and is safe for
// concurrent use. Whoever opened it must Close it.
type Servers struct {
	servers  []*server
	warnings []string
	closed   chan struct{}
	once     sync.Once
	closeErr error
}

var _ tools.Source = (*Servers)(nil)

// Status is how one server does.
type Status struct {
	// Name is the server's name in the configuration.
	Name string

	// State is what the server is doing, and Since the time it began to.
	State State
	Since time.Time

	// Err says why the server cannot be used, and what to do; nil if it can. A
	// failed server is tried again when it is next used, though not before
	// Retry; with Options.Background, at that time.
	Err   error
	Retry time.Time

	// Restarts counts how often the server was lost and connected again.
	Restarts int

	// LastErr is the last failure, also of a server that has recovered, and
	// LastErrAt its time.
	LastErr   error
	LastErrAt time.Time

	// ProtocolVersion is what was last negotiated, such as "2025-11-25"; empty
	// until the server has connected.
	ProtocolVersion string

	// Tools is the number of tools in the last listing.
	Tools int

	// Noise is the number of lines on stdout that were no messages and have
	// been skipped.
	Noise int

	// Stderr is the end of what the server wrote to stderr, up to 8 KiB.
	Stderr string
}

// Open starts the servers of a configuration file, in parallel, and returns
// when each has connected or failed. The file is described at [ParseConfig].
// With [Options.Lazy] it starts nothing yet; with [Options.Background] it returns
// at once, and the rest happens while the program runs.
//
// A server that ends later, or whose session is lost, is started or connected to
// again when one of its tools is next called, or the tools are next listed. The
// tools stay the same. One that keeps failing is tried ever less often, up to
// once a minute.
//
// The failure of one server is no error: its tools are missing until it works, and
// [Servers.Status] says why. An error means that the file is missing, malformed
// or names no servers, that every server failed, or that ctx ended; then
// nothing is left running. ctx bounds connecting only.
func Open(ctx context.Context, path string, o *Options) (*Servers, error) {
	c, err := ReadConfig(path, o)
	if err != nil {
		return nil, err
	}
	return Start(ctx, c, o)
}

// Start is [Open] for a configuration that has been read already. Disabled
// servers are left out.
func Start(ctx context.Context, c *Config, o *Options) (*Servers, error) {
	if c == nil {
		return nil, errors.New("mcp servers: no configuration")
	}
	all := o.withDefaults()
	s := &Servers{warnings: slices.Clone(c.Warnings), closed: make(chan struct{})}
	for _, config := range c.Servers {
		if !config.Disabled {
			s.servers = append(s.servers, newServer(ctx, config, nil, &all))
		}
	}
	s.warnings = append(s.warnings, unheeded(c, &all)...)
	return s.connect(ctx)
}

// Connect connects to servers that somebody else runs, by name: servers in the
// same process, or in a test. Errors are those of [Start]. Close ends the
// connections. A lost one is made anew by the transport's Connect, except that
// the SDK's transports over a stream or a command serve only once.
func Connect(ctx context.Context, transports map[string]mcp.Transport, o *Options) (*Servers, error) {
	all := o.withDefaults()
	s := &Servers{closed: make(chan struct{})}
	for _, name := range slices.Sorted(maps.Keys(transports)) {
		if transports[name] == nil {
			return nil, fmt.Errorf("mcp server %q: its transport is nil", name)
		}
		s.servers = append(s.servers, newServer(ctx, ServerConfig{Name: name}, transports[name], &all))
	}
	return s.connect(ctx)
}

func (s *Servers) connect(ctx context.Context) (*Servers, error) {
	s.checkTrust()
	switch {
	case len(s.servers) == 0:
		return s, nil
	case s.background():
		for _, srv := range s.servers {
			go srv.keeper.run()
		}
		return s, nil
	case s.servers[0].o.Lazy:
		return s, nil
	}
	errs := each(s.servers, func(srv *server) error {
		_, err := srv.live(ctx)
		return err
	})
	var err error
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("mcp servers: connecting was ended: %w", context.Cause(ctx))
	case len(errs) > 0 && !slices.Contains(errs, nil):
		err = fmt.Errorf("no mcp server could be used:\n%w", errors.Join(errs...))
	default:
		return s, nil
	}
	for _, w := range s.warnings { // which nobody can ask for any more
		s.servers[0].o.Logger.WarnContext(ctx, w)
	}
	_ = s.Close()
	return nil, err
}

// background reports whether the servers are as [Options.Background] says.
func (s *Servers) background() bool { return len(s.servers) > 0 && s.servers[0].keeper != nil }

// Wait returns nil once the first listing of every server's tools has ended, with
// or without success. Otherwise the error is [ErrClosed] or that of ctx. It is
// meant for [Options.Background]; without that it returns at once.
func (s *Servers) Wait(ctx context.Context) error {
	for _, srv := range s.servers {
		if srv.keeper == nil {
			continue
		}
		select {
		case <-srv.keeper.tried:
		case <-s.closed:
			return ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("mcp servers: waiting for their tools: %w", context.Cause(ctx))
		}
	}
	return nil
}

// checkTrust warns of names that no server has.
func (s *Servers) checkTrust() {
	if len(s.servers) == 0 {
		return
	}
	for _, name := range s.servers[0].o.Trust {
		if !slices.ContainsFunc(s.servers, func(srv *server) bool { return srv.name == name }) {
			s.warnings = append(s.warnings, fmt.Sprintf("trusted is %q, but there is no mcp server of that name", name))
		}
	}
}

// each runs f for every server at once and returns what each returned.
func each(servers []*server, f func(*server) error) []error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, srv := range servers {
		wg.Go(func() { errs[i] = f(srv) })
	}
	wg.Wait()
	return errs
}

// ErrClosed is returned by [Servers.Tools] after [Servers.Close].
var ErrClosed = errors.New("mcp servers are closed")

// Tools lists the tools of all servers as they are now, in the order of the
// configuration, each in the namespace of its server's name. It asks every
// server again, and starts those that are not running, except with
// [Options.Background]. A server that has failed, or fails now, keeps the tools of
// its last listing, and [Servers.Status] says what is wrong. The error is
// [ErrClosed] or that of ctx.
//
// The tools are valid until Close. Their Hints are empty unless Options.Trust
// names the server: what a call means is for the host to say.
func (s *Servers) Tools(ctx context.Context) ([]*tools.Tool, error) {
	select {
	case <-s.closed:
		return nil, ErrClosed
	default:
	}
	if !s.background() {
		each(s.servers, func(srv *server) error {
			_, err := srv.relist(ctx)
			return err // its status has it
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

// Status returns how each server does, in the order of the configuration.
func (s *Servers) Status() []Status {
	list := make([]Status, len(s.servers))
	for i, srv := range s.servers {
		list[i] = srv.status()
	}
	return list
}

// Warnings returns what the host should know and nothing has failed over: keys
// of the configuration without effect, listings that were cut short, tools that
// were left out, output schemas that cannot be used.
func (s *Servers) Warnings() []string {
	list := slices.Clone(s.warnings)
	for _, srv := range s.servers {
		list = append(list, srv.warned()...)
	}
	return list
}

// Close ends all servers, with everything that they started, and waits until
// they are gone, which takes at most twice [Options.Grace] and a little. Calls
// in flight fail. The error names a process that could not be ended. Close may
// be called again and returns the same.
func (s *Servers) Close() error {
	s.once.Do(func() {
		close(s.closed)
		s.closeErr = errors.Join(each(s.servers, (*server).close)...)
	})
	return s.closeErr
}
