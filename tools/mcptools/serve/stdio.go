package serve

import (
	"context"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastMoment is what calls get to answer that they were cancelled, when the grace
// is over.
const lastMoment = 2 * time.Second

// stdio serves one client until it has nothing more to say, or ctx ends.
func (o *Options) stdio(ctx context.Context, server *mcp.Server) error {
	t := newSettling(&mcp.IOTransport{Reader: o.In, Writer: unclosed{o.Out}, MaxLineLength: int(o.Limits.Body)})
	life := context.WithValue(WithPrincipal(context.WithoutCancel(ctx), local), probeKey{}, server)
	session, err := server.Connect(life, t, nil)
	if err != nil {
		return err
	}
	cut := 0
	defer func() { o.Logger.Info("shut down", "cut", cut) }()
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-t.ending:
	case <-ctx.Done():
		go t.drain(0)
	}
	o.Logger.Info("shutting down; calls that run may end", "grace", o.Grace)
	if ok, err := within(o.Grace, ended); ok {
		return err
	}
	cut = t.calls()
	if o.Queue != nil {
		o.Queue.Stop()
		if ok, _ := within(lastMoment, ended); ok {
			return errUnsettled
		}
	}
	t.giveUp()
	_, _ = within(lastMoment, ended) // nothing more can be done
	return errUnsettled
}

type probeKey struct{}

// probe answers who asks which protocols there are, and leaves the session as it was.
// A client that asked, and had no answer soon enough, begins with an older one; but
// the SDK takes a session in which it has answered that for begun.
func probe(ctx context.Context, method string, r *mcp.ServerRequest[*mcp.DiscoverParams], next mcp.MethodHandler) (mcp.Result, error) {
	server, ok := ctx.Value(probeKey{}).(*mcp.Server)
	if !ok {
		return next(ctx, method, r)
	}
	silence, _ := io.Pipe()
	session, err := server.Connect(ctx, &mcp.IOTransport{Reader: silence, Writer: unclosed{io.Discard}}, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	aside := *r
	aside.Session = session
	return next(ctx, method, &aside)
}

// within reports whether the session ended in time, and how.
func within(d time.Duration, ended <-chan error) (bool, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case err := <-ended:
		return true, err
	case <-timer.C:
		return false, nil
	}
}

// unclosed stays open: stdout is the process's, not the session's.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }
