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
