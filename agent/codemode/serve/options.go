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
	"path"
	"strings"
	"time"
	"unicode"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// The transports, for Options.Transport.
const (
	Stdio = "stdio" // one client, which started this process
	HTTP  = "http"  // streamable HTTP, for clients of all protocol versions since 2025-03-26
)

// Options configure [Run] and [NewHandler]. The zero value of every field is its default, and nil
// Options are the defaults. A [Handler] ignores In, Out, Addr, Listener and Grace.
type Options struct {
	// Transport is Stdio or HTTP. Empty means Stdio for Run, and HTTP for a Handler.
	Transport string

	// In and Out replace the process's stdin and stdout. Closing In must end a Read that is waiting.
	In  io.ReadCloser
	Out io.Writer

	// Addr is the address to listen on. Empty means "127.0.0.1:8080". Without Auth, it must
	// be an address of this machine: 127.0.0.1, [::1] or localhost.
	Addr string

	// Listener, if set, is used instead of listening on Addr; Run closes it. It is for tests,
	// for TLS, and for a socket that is already open. Without Auth, its address must be an
	// address of this machine.
	Listener net.Listener

	// Path is the protocol's path. Empty means "/mcp".
	Path string

	// Auth authenticates clients. If it is nil, only programs on this machine have
	// access. For a Handler, see also the section Security of [NewHandler].
	Auth *Auth

	// Hosts are the names, without ports, under which clients may reach the server, in
	// addition to "localhost", the host of Addr and the IP address at which a connection
	// arrived. Requests with other names get status 403, which protects against DNS rebinding:
	// web pages whose own name resolves to this machine.
	Hosts []string

	// Origins are the origins of web pages that may send requests, such as
	// "http://localhost:6274", in addition to pages at the server's own address. Requests
	// from other pages get status 403. Clients other than browsers send no origin.
	Origins []string

	// Stateless serves clients with older protocols without sessions, so that any replica can serve any request. By
	// default, these clients have sessions in this process, in which the server can notify them that tools have
	// changed, and they can cancel calls. A load balancer must then send all requests in a session to the same replica.
	Stateless bool

	// Rate is the number of messages per second that one principal may send on average. In a
	// burst, it may send twice that number at once. Zero means 500; a negative Rate means no
	// limit.
	Rate float64

	// MeterProvider creates the metrics; see the package comment. Nil means no metrics.
	MeterProvider metric.MeterProvider

	// TracerProvider creates a span for each tool call; see the package comment. Nil means no spans.
	TracerProvider trace.TracerProvider

	// Logger logs events, but no token, header or message. There are three exceptions: a handler's panic value, an
	// error from Auth.Verifier (without the token) and, at level debug, a rejected host or origin. Nil logs nothing.
	Logger *slog.Logger

	// Grace is how long running calls may continue after the context of [Run] is done, or after a client on stdio
	// closes its end. Then they are canceled. Zero means 5 seconds.
	Grace time.Duration

	limits limits // set only by tests
}

// limits bound what one principal can use.
type limits struct {
	body        int64         // size of the largest message, in bytes
	values      int           // JSON values in one message, including nested ones
	memory      int64         // estimated size, in bytes, of all open requests' decoded messages
	rate        float64       // messages per second, on average
	burst       int           // messages that may be sent at once
	requests    int           // open requests, including streams
	sessions    int           // sessions in the older protocols
	idle        time.Duration // how long a session lives without a request or an open stream
	stall       time.Duration // for sending the headers, sending the message, or accepting a piece of a response
	connections int           // open connections of all principals; further connections wait to be accepted
}

var defaultLimits = limits{
	body: 4 << 20, values: 100_000, memory: 64 << 20, requests: 512, sessions: 256,
	idle: 30 * time.Minute, stall: 20 * time.Second, connections: 4096,
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
	d.limits = cmp.Or(d.limits, defaultLimits)
	d.limits.rate = cmp.Or(d.Rate, 500)
	d.limits.burst = cmp.Or(d.limits.burst, max(1, int(2*d.limits.rate)))
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	d.Grace = cmp.Or(d.Grace, 5*time.Second)
	return &d
}

// Check returns all errors in the options, without serving. [Run] checks them too.
func (o *Options) Check(ctx context.Context) error {
	o = o.defaults()
	var errs []error
	switch o.Transport {
	case Stdio:
		if o.Auth != nil {
			errs = append(errs, errors.New("auth is only for http: on stdio, the only client is the program that "+
				"started this process; remove it"))
		}
	case HTTP:
		errs = append(errs, o.checkWeb()...)
		if _, err := o.address(ctx); err != nil {
			errs = append(errs, err)
		}
	default:
		errs = append(errs, fmt.Errorf("transport must be stdio or http, not %q", o.Transport))
	}
	if o.Grace < 0 {
		errs = append(errs, fmt.Errorf("grace must not be negative: %v", o.Grace))
	}
	return errors.Join(errs...)
}

func (o *Options) checkWeb() []error {
	var errs []error
	if !isPlainPath(o.Path) || o.Path == "/" || reserved(o.Path) {
		errs = append(errs, fmt.Errorf("path %q is invalid or reserved; use one like /mcp", o.Path))
	}
	for _, origin := range o.Origins {
		errs = append(errs, checkOrigin(origin))
	}
	for _, host := range o.Hosts {
		errs = append(errs, checkHost(host))
	}
	return append(errs, o.Auth.check())
}

// isPlainPath reports whether a path is valid in a request and has no special meaning in a pattern of [http.ServeMux].
func isPlainPath(p string) bool {
	strange := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("{}?#%", r)
	}
	return strings.HasPrefix(p, "/") && path.Clean(p) == p && !strings.ContainsFunc(p, strange)
}

func reserved(p string) bool {
	switch p {
	case "/healthz", "/readyz":
		return true
	}
	return strings.HasPrefix(p, wellKnown)
}
