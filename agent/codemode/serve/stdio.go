package serve

import (
	"context"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio serves one client until the client closes its end or ctx is done.
func (o *Options) stdio(ctx context.Context, server *mcp.Server, m *middleware) error {
	t := newDrainer(&mcp.IOTransport{Reader: o.In, Writer: unclosed{o.Out}, MaxLineLength: int(o.limits.body)})
	life := context.WithValue(WithPrincipal(context.WithoutCancel(ctx), local), probeKey{}, server)
	session, err := server.Connect(m.mark(life), t, nil)
	if err != nil {
		return err
	}
	defer m.meters.session()()
	canceled := 0
	defer func() { o.Logger.Info("shut down", "canceled", canceled) }()
	ended := make(chan struct{})
	go func() {
		err = session.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return err
	case <-t.calls.stopped:
	case <-ctx.Done():
		go t.drain()
	}
	o.Logger.Info("shutting down; waiting for running calls", "grace", o.Grace)
	if closedWithin(o.Grace, ended) {
		return err
	}
	canceled = t.calls.count()
	m.end()
	if !closedWithin(lastMoment, ended) {
		t.giveUp()
		closedWithin(lastMoment, ended)
	}
	return errCanceled
}

type probeKey struct{}

// probe answers a request for the supported protocol versions in a separate session. Otherwise, the SDK
// would begin the client's session with the newest version, although a client that gets no answer in time
// continues with an older version.
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

// closedWithin waits until done is closed, at most for d, and reports whether done is closed.
func closedWithin(d time.Duration, done <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return closedBefore(ctx, done)
}

// unclosed ignores Close: stdout belongs to the process, not to the session.
type unclosed struct{ io.Writer }

// Close implements [io.Closer].
func (unclosed) Close() error { return nil }
