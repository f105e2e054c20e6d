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
)

// The transports, for Options.Transport.
const (
	Stdio = "stdio" // one client, which started the process
	HTTP  = "http"  // streamable HTTP, for clients of all protocol versions since 2025-03-26
)

// Options configure [Run] and [NewHandler]. The zero value of every field is its default, and nil
// Options are the defaults. A [Handler] ignores In, Out, Addr, Listener, Grace and
// Limits.Connections.
type Options struct {
	// Transport is Stdio or HTTP. Empty means Stdio for Run, and HTTP for a Handler.
	Transport string

	// In and Out replace the process's stdin and stdout. In must end when it is closed.
	In  io.ReadCloser
	Out io.Writer

	// Addr is the address to listen on. Empty means "127.0.0.1:8080". Without Auth, it must
	// be an address of this machine: 127.0.0.1, [::1] or localhost.
	Addr string

	// Listener, if set, is used and closed by Run instead of listening on Addr. It is for
	// tests, for TLS, and for a socket that is already open. Without Auth, its address must
	// be an address of this machine.
	Listener net.Listener

	// Path is the path of the protocol. Empty means "/mcp".
	Path string

	// Auth authenticates clients. If it is nil, all programs on this machine have access,
	// and no others. For a Handler, see also the section about security of [NewHandler].
	Auth *Auth

	// Hosts are the names, without ports, under which clients may reach the server, in
	// addition to "localhost", the host of Addr and the IP address at which a connection
	// arrived. Requests with other names get status 403, which protects against web pages
	// that make their own name resolve to this machine.
	Hosts []string

	// Origins are the web pages that may send requests from a browser, such as
	// "http://localhost:6274", in addition to pages at the server's own address. Others get
	// status 403. Clients other than browsers send no origin.
	Origins []string

	// Stateless serves clients of the older protocols without a session, like those of the
	// newest one, so that any of several replicas can serve any request. By default they get
	// a session in this process, which lets the server tell them when tools change, and lets
	// them cancel calls; a load balancer must then send all requests of a session to the same
	// replica.
	Stateless bool

	// Limits bound what one client can use.
	Limits Limits

	// Queue is the queue in which the calls of the server's tools wait for their turn. Its
	// metrics are included. It may be nil, and several transports may have the same one.
	Queue *Queue

	// Logger logs events, but never a token, header or message, except for the value of a
	// panic in a handler, an error of Auth.Verifier without the token and, at level debug, a
	// host or origin that is refused. Nil logs nothing.
	Logger *slog.Logger

	// Grace is how long running calls may continue after the context of [Run] ends, or
	// after a client on stdio closes its end. Then they are canceled. Zero means 5 seconds.
	Grace time.Duration
}

// Limits bound what one client can use. Zero means the default.
type Limits struct {
	// Body is the size of the largest message, in bytes. Zero means 4 MiB.
	Body int64

	// Values is the maximum number of JSON values in one message, including nested ones.
	// Zero means 100,000.
	Values int

	// Memory is the maximum estimated size, in bytes, of the decoded messages of one
	// principal while its requests are open. The messages of all principals together may
	// take four times as much. Zero means 64 MiB.
	Memory int64

	// Rate is the number of messages per second that one principal may send in the long
	// run, and Burst the number that it may send at once. Zero means 500, and twice the
	// Rate. A negative Rate means no limit.
	Rate  float64
	Burst int

	// Requests is the maximum number of open requests of one principal, including streams.
	// Zero means 512.
	Requests int

	// Sessions is the maximum number of sessions of the older protocols for one principal.
	// If a principal begins one more, the session that has been idle for the longest time
	// ends. Zero means 256.
	Sessions int

	// IdleTimeout is how long a session lives without a request or an open stream. Zero
	// means 30 minutes.
	IdleTimeout time.Duration

	// StallTimeout is how long a client may take to send its headers, to send its message,
	// or to accept a piece of a response. Zero means 20 seconds.
	StallTimeout time.Duration

	// Connections is the maximum number of open connections; further ones wait to be
	// accepted. Zero means 4,096.
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
	l.IdleTimeout = cmp.Or(l.IdleTimeout, 30*time.Minute)
	l.StallTimeout = cmp.Or(l.StallTimeout, 20*time.Second)
	l.Connections = cmp.Or(l.Connections, 4096)
	return l
}

func (l Limits) check() error {
	if min(l.Body, l.Memory, int64(l.IdleTimeout), int64(l.StallTimeout)) < 0 ||
		min(l.Values, l.Burst, l.Requests, l.Sessions, l.Connections) < 0 {
		return fmt.Errorf("limits: only Rate may be negative: %+v", l)
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
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	d.Grace = cmp.Or(d.Grace, 5*time.Second)
	return &d
}

// Check returns all errors in the options, without serving. [Run] checks them too.
func (o *Options) Check(ctx context.Context) error {
	o = o.defaults()
	errs := []error{o.Limits.check()}
	switch o.Transport {
	case Stdio:
		if o.Auth != nil {
			errs = append(errs, errors.New("authentication is for http: on stdio, the client started this process"))
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

// isPlainPath reports whether a request can have the path, and an [http.ServeMux] takes it literally.
func isPlainPath(p string) bool {
	strange := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("{}?#%", r)
	}
	return strings.HasPrefix(p, "/") && path.Clean(p) == p && !strings.ContainsFunc(p, strange)
}

func reserved(p string) bool {
	switch p {
	case "/healthz", "/readyz", "/metrics":
		return true
	}
	return strings.HasPrefix(p, wellKnown)
}
