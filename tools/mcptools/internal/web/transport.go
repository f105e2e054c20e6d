// Package web connects to MCP servers over HTTP: streamable HTTP, and its predecessor, HTTP with server-sent events. It
// bounds what it reads, sends headers only to the server's own origin, and prevents one failed request from ending the
// session.
package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools/internal/origin"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// The values of [Config.Type].
const (
	HTTP = "http"
	SSE  = "sse"
)

// Config describes how to reach a server.
type Config struct {
	Server     string // the server's name
	URL        *url.URL
	Type       string // [HTTP] or [SSE]
	Headers    map[string]string
	HeaderFunc func(ctx context.Context, server string) (http.Header, error)
	OAuth      auth.OAuthHandler
	Client     *http.Client // only its Transport and Jar are used; may be nil
	Limit      int          // bytes of one message
	Grace      time.Duration
	Secrets    *origin.Secrets
	Exchange   *message.Exchange
}

// ParseURL parses a server's address. Its errors do not repeat the address, which may contain secrets.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("must be an address that starts with http:// or https://")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// Types returns the transports to try, in order. An empty typ means that the transport is unknown.
func Types(typ string, u *url.URL) []string {
	switch {
	case typ != "":
		return []string{typ}
	case path.Base(u.Path) == "sse":
		return []string{SSE, HTTP}
	}
	return []string{HTTP, SSE}
}

// Transport is an [mcp.Transport] to a server.
type Transport struct{ Config }

// Connect implements [mcp.Transport].
func (t *Transport) Connect(ctx context.Context) (mcp.Connection, error) {
	e := newEndpoint(&t.Config)
	t.Exchange.Redact = func(text string) string { return t.Secrets.Hide(text) }
	r := &responses{Config: &t.Config, next: e, setMessages: e.setMessages}
	client := &http.Client{Transport: r}
	if t.Client != nil {
		client.Jar = t.Client.Jar
	}
	if t.Type == SSE {
		sdk := &mcp.SSEClientTransport{Endpoint: e.shown(), HTTPClient: client, MaxEventSize: -1}
		return sdk.Connect(ctx)
	}
	sdk := &mcp.StreamableClientTransport{Endpoint: e.shown(), HTTPClient: client, MaxEventSize: -1}
	return sdk.Connect(ctx)
}
