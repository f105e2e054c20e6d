package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"
)

// The ways to serve, for [Options].Transport.
const (
	Stdio = "stdio" // one client, which started the process
	HTTP  = "http"  // streamable HTTP, for clients of the protocol of 2026-07-28 and of the older ones
	SSE   = "sse"   // HTTP with server-sent events, the protocol of 2024-11-05, for old clients
)

// Options says how a server is served. The zero value of every field is its
// default, and nil Options are all defaults.
type Options struct {
	// Transport is Stdio, HTTP or SSE. Empty is Stdio.
	Transport string

	// --- stdio

	// In and Out are read from and written to instead of the process's stdin and
	// stdout. In has to end when it is closed.
	In  io.ReadCloser
	Out io.Writer

	// --- HTTP and SSE

	// Addr is where to listen. Empty is "127.0.0.1:8080". Without Auth it must be
	// of this machine alone: 127.0.0.1, [::1], localhost.
	Addr string

	// Listener is served instead of listening at Addr, and closed: for tests, for
	// TLS, for a socket that somebody else opened. Without Auth, it must be of this
	// machine alone.
	Listener net.Listener

	// Path is where clients find the server. Empty is "/mcp".
	Path string

	// Auth says who may ask. Nil is anybody on this machine, and nobody else.
	Auth *Auth

	// Hosts are the names, without ports, under which clients may reach the server,
	// beside "localhost", the host of Addr and the IP address that a connection
	// arrived at. A page in a browser that has its own name resolve to this machine
	// comes with a name that is not among them, and gets 403.
	Hosts []string

	// Origins are the web pages that may ask from a browser, such as
	// "http://localhost:6274". Others get 403, but for those of the server's own
	// address. What is no browser sends no origin, and is not concerned.
	Origins []string

	// Stateless has clients of the older protocols served without a session, as
	// those of the new one always are, so that any of several replicas can answer
	// any request. By default they get one, which lives in this process: they are
	// told when tools change, and can cancel a call; behind a balancer, all requests
	// of a session must then reach the same replica.
	Stateless bool

	// Limits bound what one client can take from the others.
	Limits Limits

	// Ready says why the server can't work at the moment, for /readyz. Nil is never.
	Ready func() error

	// Queue is where the server's tools wait for their turn. It appears in the
	// metrics, and what still runs in it is cancelled when the grace is over. Nil is
	// none.
	Queue *Queue

	// Metrics writes more metrics, in the text format of Prometheus, after those of
	// this package. Nil is none.
	Metrics func(io.Writer)

	// --- Both

	// Logger is told what happens, and never what a token, a header or a message
	// says, but for the panics of handlers, whose texts are not this package's. Nil is
	// silence.
	Logger *slog.Logger

	// Grace is how long calls that run may go on when the context of [Run] ends, or
	// a client closes its end of stdio; then they are cancelled. Zero is 5 seconds.
	Grace time.Duration
}

// Limits bound what one client can take from the others. Zero is the default of
// each.
type Limits struct {
	// Body is how many bytes one message may have. Zero is 4 MiB.
	Body int64

	// Values is how many JSON values one message may have: arrays, objects, and all that
	// they contain. Zero is 100,000.
	Values int

	// Memory is how much memory the messages of one principal may take while its requests
	// are open, in bytes, by an estimate of what they take once they are decoded; those
	// of all principals may take four times as much. Zero is 64 MiB.
	Memory int64

	// Rate is how many messages a second one principal may send in the long run, and
	// Burst how many at once. Zero is 500, and twice the Rate. A negative Rate is no
	// limit.
	Rate  float64
	Burst int

	// Requests is how many requests of one principal may be open at once, those of
	// streams included. Zero is 512.
	Requests int

	// Sessions is how many sessions of the older protocols one principal may have.
	// One more ends the one that was idle for longest. Zero is 256.
	Sessions int

	// Idle is how long a session lives in which nothing is asked, and no stream is
	// open. Zero is 30 minutes.
	Idle time.Duration

	// Stall is how long a client may take to send its headers, or its message, or to
	// accept what is written to it. Zero is 20 seconds.
	Stall time.Duration

	// Connections is how many connections there may be at once; others wait to be
	// accepted. Zero is 4,096.
	Connections int
}

func (l Limits) defaults() Limits {
	l.Body = cmp.Or(l.Body, 4<<20)
	l.Values = cmp.Or(l.Values, 100_000)
	l.Memory = cmp.Or(l.Memory, 64<<20)
	l.Rate = cmp.Or(l.Rate, 500)
	l.Burst = cmp.Or(l.Burst, max(1, int(2*l.Rate)))
	l.Requests = cmp.Or(l.Requests, 512)
	l.Sessions = cmp.Or(l.Sessions, 256)
	l.Idle = cmp.Or(l.Idle, 30*time.Minute)
	l.Stall = cmp.Or(l.Stall, 20*time.Second)
	l.Connections = cmp.Or(l.Connections, 4096)
	return l
}

func (l Limits) check() error {
	if l.Body < 0 || l.Values < 0 || l.Memory < 0 || l.Burst < 0 || l.Requests < 0 || l.Sessions < 0 || l.Idle < 0 || l.Stall < 0 || l.Connections < 0 {
		return fmt.Errorf("limits: none but the rate may be negative: %+v", l)
	}
	return nil
}

func (o *Options) defaults() *Options {
	d := Options{}
	if o != nil {
		d = *o
	}
	d.Transport = cmp.Or(d.Transport, Stdio)
	if d.In == nil {
		d.In = os.Stdin
	}
	if d.Out == nil {
		d.Out = os.Stdout
	}
	d.Addr = cmp.Or(d.Addr, "127.0.0.1:8080")
	d.Path = cmp.Or(d.Path, "/mcp")
	d.Limits = d.Limits.defaults()
	if d.Ready == nil {
		d.Ready = func() error { return nil }
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	d.Grace = cmp.Or(d.Grace, 5*time.Second)
	return &d
}

// Check returns everything that is wrong with the options, without serving
// anything. [Run] checks them too.
func (o *Options) Check(ctx context.Context) error {
	o = o.defaults()
	errs := []error{o.Limits.check()}
	switch o.Transport {
	case Stdio:
		if o.Auth != nil {
			errs = append(errs, errors.New("authentication is for http and sse: on stdio, whoever started the process is served"))
		}
	case HTTP, SSE:
		errs = append(errs, o.checkWeb(ctx)...)
	default:
		errs = append(errs, fmt.Errorf("transport must be stdio, http or sse, not %q", o.Transport))
	}
	if o.Grace < 0 {
		errs = append(errs, fmt.Errorf("grace must not be negative: %v", o.Grace))
	}
	return errors.Join(errs...)
}

func (o *Options) checkWeb(ctx context.Context) []error {
	var errs []error
	if !strings.HasPrefix(o.Path, "/") || strings.ContainsAny(o.Path, "{}?#% ") || len(o.Path) == 1 || reserved(o.Path) {
		errs = append(errs, fmt.Errorf("path must be like /mcp, and none that the server needs itself, not %q", o.Path))
	}
	for _, origin := range o.Origins {
		errs = append(errs, checkOrigin(origin))
	}
	for _, host := range o.Hosts {
		errs = append(errs, checkHost(host))
	}
	errs = append(errs, o.Auth.check())
	if _, err := o.address(ctx); err != nil {
		errs = append(errs, err)
	}
	return errs
}

func reserved(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/metrics":
		return true
	}
	return strings.HasPrefix(path, wellKnown)
}
