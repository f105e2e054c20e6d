package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Run serves what newServer returns until ctx ends, or the client of stdio closes
// its end. Then calls that run may end, within Options.Grace. It returns nil if all
// of them did.
//
// newServer is asked who gets what: at the beginning of each session, and for each
// request that belongs to none. It should return the same server for equal
// principals, whose tools may change at any time; nil is served as 403. It may be one
// server for all: each principal is shown the tools that its Tools allow, on one page,
// and can call no others. Handlers learn from [PrincipalOf] who asks. One that panics
// ends its call with an internal error, which the log has in full, and nothing else;
// but a panic in a goroutine that it started ends the process.
func Run(ctx context.Context, newServer func(Principal) *mcp.Server, o *Options) error {
	if err := o.Check(ctx); err != nil {
		return err
	}
	o = o.defaults()
	if o.Transport == Stdio {
		server := newReceiver(o.Logger).before(newServer(local))
		if server == nil {
			return errors.New("there is no server for the one client of stdio")
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

// announce says where the server is, and who can reach it.
func (o *Options) announce(addr string) {
	log := o.Logger.With("url", "http://"+addr+o.Path, "transport", o.Transport)
	if o.Auth == nil {
		log.Warn("serving without authentication: every program on this machine may ask, and nobody else")
		return
	}
	log.Info("serving those who have a token")
}
