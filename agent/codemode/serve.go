package codemode

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
)

// local is the principal for the client on stdio, and for all clients without authentication.
var local = serve.Principal{Name: "local"}

// Serve serves clients over the transport in the options until ctx is done or, on stdio, the client closes its end; see
// [serve.Run]. Nil options mean stdio. In that case, stdout belongs to the protocol, so the program must not print to
// it.
func (s *Server) Serve(ctx context.Context, o *serve.Options) error {
	if err := s.usable(); err != nil {
		return err
	}
	o = s.serving(o)
	warning, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { s.warnOfPatterns(warning, o.Auth) })
	defer group.Wait()
	defer stop()
	return serve.Run(ctx, s.serverOf, o)
}

// Handler returns a handler that serves clients over HTTP, to be mounted in one of the host's servers; see
// [serve.NewHandler]. Nil options mean the defaults.
func (s *Server) Handler(o *serve.Options) (*serve.Handler, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	return serve.NewHandler(s.serverOf, s.serving(o))
}

// AddTo adds the tools that a principal may use to one of the host's MCP servers, and keeps them up to date as long as
// that server exists. It replaces tools with the same names. All clients of that server act as that principal, so they
// share code files, sessions and environments. AddTo returns an error if the server is nil, the principal has no name,
// or s is closed.
func (s *Server) AddTo(server *mcp.Server, p serve.Principal) error {
	if err := s.usable(); err != nil {
		return err
	}
	if server == nil || p.Name == "" {
		return errors.New("codemode: AddTo needs a server and a principal with a name")
	}
	s.offer(server, p)
	return nil
}

func (s *Server) usable() error {
	if s.closed.Load() {
		return errors.New("codemode: the server is closed")
	}
	return nil
}

// serving completes a transport's options.
func (s *Server) serving(o *serve.Options) *serve.Options {
	complete := serve.Options{}
	if o != nil {
		complete = *o
	}
	complete.MeterProvider, complete.TracerProvider = s.options.MeterProvider, s.options.TracerProvider
	if complete.Logger == nil {
		complete.Logger = s.log
	}
	return &complete
}

func (s *Server) newServer() *mcp.Server {
	return mcp.NewServer(s.options.Implementation, &mcp.ServerOptions{
		Instructions: strings.TrimSpace(instructions + "\n\n" + s.options.Instructions),
		Logger:       slog.New(slog.DiscardHandler), // the SDK would log every request
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
			c.CacheScope = "private" // other principals see other tools
		},
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
}

const instructions = `This server runs JavaScript programs in a sandbox, which can call tools. Write one program for ` +
	`execute_code that does all the steps and returns only what you need, instead of making many single calls.`
