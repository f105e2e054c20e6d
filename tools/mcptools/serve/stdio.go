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
	session, err := server.Connect(WithPrincipal(context.WithoutCancel(ctx), local), t, nil)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-t.ending:
	case <-ctx.Done():
		go t.drain()
	}
	if err, ok := within(o.Grace, ended); ok {
		return err
	}
	if o.Queue != nil {
		o.Queue.Stop()
		if _, ok := within(lastMoment, ended); ok {
			return errUnsettled
		}
	}
	t.giveUp()
	within(lastMoment, ended)
	return errUnsettled
}

func within(d time.Duration, ended <-chan error) (error, bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err, true
	case <-timer.C:
		return nil, false
	}
}

// unclosed stays open: stdout is the process's, not the session's.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
