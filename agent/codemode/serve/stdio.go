package serve

import (
	"context"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio serves one client until the client closes its end or ctx ends.
func (o *Options) stdio(ctx context.Context, server *mcp.Server, m *middleware) error {
	t := newDrainer(&mcp.IOTransport{Reader: o.In, Writer: unclosed{o.Out}, MaxLineLength: int(o.limits.body)})
	life := context.WithValue(WithPrincipal(context.WithoutCancel(ctx), local), probeKey{}, server)
	session, err := server.Connect(m.mark(life), t, nil)
	if err != nil {
		return err
	}
	canceled := 0
	defer func() { o.Logger.Info("shut down", "canceled", canceled) }()
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-t.calls.stopped:
	case <-ctx.Done():
		go t.drain()
	}
	o.Logger.Info("shutting down; waiting for running calls", "grace", o.Grace)
	if ok, err := within(o.Grace, ended); ok {
		return err
	}
	canceled = t.calls.count()
	m.end()
	if ok, _ := within(lastMoment, ended); ok {
		return errCanceled
	}
	t.giveUp()
	_, _ = within(lastMoment, ended)
	return errCanceled
}

type probeKey struct{}

// probe answers a request for the supported protocol versions in a session of its own. Otherwise, the SDK
// would consider the client's session as begun with the newest version, although a client that gets no
// answer in time continues with an older one.
func probe(
	ctx context.Context, method string, r *mcp.ServerRequest[*mcp.DiscoverParams], next mcp.MethodHandler,
) (mcp.Result, error) {
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

// within waits for the end of the session. It reports whether the session ended in time, and returns its error.
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

// unclosed ignores Close: stdout belongs to the process, not to the session.
type unclosed struct{ io.Writer }

// Close implements [io.Closer].
func (unclosed) Close() error { return nil }
