package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Run serves the servers that newServer returns, until ctx ends or the client on stdio closes
// its end. Running calls may then finish within Options.Grace. It returns nil if all of them
// did.
//
// newServer is called at the beginning of each session, and for each request without one.
// It should return the same server for equal principals; its tools may change at any time.
// If it returns nil, the client gets status 403. It may return the same server for all:
// each principal sees the tools that its Tools allow, on one page, and can call no others.
// Handlers get the principal from [PrincipalOf]. A handler that panics ends its call with
// an internal error, and the log has the details; a panic in another goroutine ends the
// process.
func Run(ctx context.Context, newServer func(Principal) *mcp.Server, o *Options) error {
	if err := o.Check(ctx); err != nil {
		return err
	}
	o = o.defaults()
	if o.Transport == Stdio {
		server := newMiddleware(o.Logger).install(newServer(local))
		if server == nil {
			return errors.New("newServer returned no server for the client on stdio")
		}
		return o.stdio(ctx, server)
	}
	l, err := o.listen(ctx)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	o.announce(l.Addr().String())
	return o.web(newServer).run(ctx, l)
}

// announce logs the address of the server, and who can use it.
func (o *Options) announce(addr string) {
	log := o.Logger.With("url", "http://"+addr+o.Path, "transport", o.Transport)
	if o.Auth == nil {
		log.Warn("serving without authentication: all programs on this machine have access, and nobody else")
		return
	}
	log.Info("serving clients with a token")
}
