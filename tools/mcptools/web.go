package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Types of servers, as [ServerConfig.Type] says.
const (
	typeStdio = "stdio"
	typeHTTP  = "http"
	typeSSE   = "sse"
)

// dialURL connects to a server at a URL. Where its type is not known, what the
// URL suggests is tried first, then the other one if the server says that the
// first is not what it serves, as the protocol's section on backwards
// compatibility has it.
func (s *server) dialURL(ctx context.Context) (*connection, error) {
	g, err := s.guard()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, kind := range kinds(s.config.Type, g.endpoint) {
		w := &web{guard: g, kind: kind, limit: s.o.MaxMessage, grace: s.o.Grace, client: s.o.HTTPClient}
		c := &connection{server: s}
		err := c.shakeHands(ctx, w, "")
		if err == nil {
			return c, nil
		}
		w.close()
		if errs = append(errs, s.wordDial(ctx, err)); !isElsewhere(err) {
			break
		}
	}
	switch {
	case len(errs) > 1 && errs[0].Error() == errs[1].Error():
		return nil, fmt.Errorf("neither transport is served at its URL: %w", errs[0])
	case len(errs) > 1:
		return nil, fmt.Errorf("neither transport is served at its URL:\n  %w\n  %w", errs[0], errs[1])
	}
	return nil, errs[0]
}

// kinds returns the transports to try, in order.
func kinds(said string, endpoint *url.URL) []string {
	switch {
	case said != "":
		return []string{said}
	case path.Base(endpoint.Path) == "sse":
		return []string{typeSSE, typeHTTP}
	default:
		return []string{typeHTTP, typeSSE}
	}
}

func (s *server) guard() (*guard, error) {
	endpoint, err := parseEndpoint(s.config.URL)
	if err != nil {
		return nil, fmt.Errorf(`"url" %w`, err)
	}
	g := &guard{
		server:     s.name,
		endpoint:   endpoint,
		headers:    http.Header{},
		headerFunc: s.o.HeaderFunc,
		oauth:      newAuthorizer(s.o.OAuth[s.name]),
		next:       http.DefaultTransport,
		secrets:    &s.secrets,
	}
	if c := s.o.HTTPClient; c != nil && c.Transport != nil {
		g.next = c.Transport
	}
	if user := endpoint.User; user != nil {
		password, _ := user.Password()
		s.secrets.add(password)
		plain := http.Request{Header: g.headers}
		plain.SetBasicAuth(user.Username(), password)
		endpoint.User = nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.config.Headers)) { // of two spellings the same one wins every time
		g.headers.Set(name, s.config.Headers[name])
	}
	return g, nil
}

// parseEndpoint reads a server's address. Its errors do not repeat it.
func parseEndpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) {
		return nil, errors.New("must be an address that starts with http:// or https://")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// wordDial words the failure of a handshake over HTTP.
func (s *server) wordDial(ctx context.Context, err error) error {
	web, known := errors.AsType[*webError](err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v; see that the URL is that of an MCP server, or raise the timeout", s.timeout())
	case ctx.Err() != nil:
		return errors.New("connecting was cancelled")
	case known:
		return web
	}
	return &hiddenError{wordHandshake(err, "that its URL is that of one"), &s.secrets}
}

// web is the transport to a server at a URL.
type web struct {
	guard  *guard
	kind   string
	limit  int
	grace  time.Duration
	client *http.Client // the host's, or nil
	conn   mcp.Connection
}

// Connect implements [mcp.Transport].
func (w *web) Connect(ctx context.Context) (mcp.Connection, error) {
	return w.connect(ctx, &replies{})
}

func (w *web) connect(ctx context.Context, r *replies) (conn mcp.Connection, err error) {
	a := &answers{next: w.guard, replies: r, limit: w.limit, grace: w.grace, secrets: w.guard.secrets, legacy: w.kind == typeSSE, moved: w.guard.messagesAt}
	client := &http.Client{Transport: a, Jar: cmp.Or(w.client, &http.Client{}).Jar}
	if a.legacy {
		conn, err = connectSSE(ctx, &mcp.SSEClientTransport{Endpoint: w.guard.shown(), HTTPClient: client, MaxEventSize: -1})
	} else {
		conn, err = (&mcp.StreamableClientTransport{Endpoint: w.guard.shown(), HTTPClient: client, MaxEventSize: -1}).Connect(ctx)
	}
	w.conn = conn
	return conn, err
}

// close ends what a failed handshake leaves behind.
func (w *web) close() {
	if w.conn != nil {
		_ = w.conn.Close()
	}
}

// remoteType returns which transport over HTTP a file names; "" for none.
func remoteType(name string) string {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) {
	case "http", "streamablehttp", "streamable":
		return typeHTTP
	case "sse":
		return typeSSE
	}
	return ""
}
