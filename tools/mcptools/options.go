package mcptools

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools/policy"
)

// Options configure how servers are run. The zero value of every field is its default, and nil
// Options are the defaults.
type Options struct {
	// --- Connecting

	// ConnectTimeout limits the time to start or reach one server, including the handshake, and the time for each
	// listing of its tools. The "timeout" of the server's entry takes precedence. Zero means 60 seconds, because npx
	// may have to fetch a server first.
	ConnectTimeout time.Duration

	// Grace is how long Close waits for a server to exit after closing its stdin, and again after SIGTERM, before
	// killing it. It is also how long Close waits until an HTTP session ends. Zero means one second.
	Grace time.Duration

	// Background makes Open return at once, without an error if a server fails. A server's tools are listed when it has
	// connected, when it reports that its tools have changed, and when its connection is lost. After a failure, they
	// are listed again at growing intervals of up to a minute. [Servers.Tools] returns the last listings without
	// waiting, OnToolsChanged reports when they have changed, and [Servers.Wait] waits until every server has been
	// listed or has failed.
	Background bool

	// Env names the host's environment variables that servers inherit, in addition to the few that most programs need:
	// PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_ALL, TZ and TMPDIR, and their counterparts on Windows. A server gets
	// nothing else from the host's environment, which often contains secrets. Variables for one server belong in the
	// "env" of its entry.
	Env []string

	// --- Servers with a URL

	// HTTPClient sends the requests to remote servers. Only its Transport, for proxies and certificates, and its Jar
	// are used. Its Timeout is ignored, because a stream may stay open for a long time. Its CheckRedirect is ignored
	// too: redirects are followed only within a server's origin. Nil means a copy of [http.DefaultTransport] that keeps
	// more idle connections.
	HTTPClient *http.Client

	// HeaderFunc returns headers for one request to a remote server. They replace headers with the same name in the
	// server's entry, but not the protocol's headers. The context has the values of the call's context, so that the
	// caller's identity can reach the server. For requests outside of calls, such as every handshake, the context has
	// the values of the context passed to [Open] or [Start]. If HeaderFunc returns an error, the call fails before
	// anything is sent. HeaderFunc is called concurrently.
	HeaderFunc func(ctx context.Context, server string) (http.Header, error)

	// OAuth returns the handler that authorizes the requests to a remote server, or nil. It is called once for each
	// server. Use the method Handler of package login, the SDK's [auth.AuthorizationCodeHandler], or a handler from its
	// package extauth. The handler's tokens replace an Authorization header. ConnectTimeout includes the time of an
	// authorization.
	OAuth func(ServerConfig) auth.OAuthHandler

	// --- Trust in servers and files

	// Trust names the servers whose claims about their tools become [tools.Hints] for policies: that a tool only reads,
	// may be repeated, or is destructive. Replay uses the first two claims of every server ([tools.Tool].Claimed), so a
	// server that lies can make effects happen twice. Only the host can set Trust; a configuration file cannot.
	Trust []string

	// Pins are the fingerprints of the tools that the host has approved, from [Servers.Pins]. A tool that differs from
	// its pin causes a warning, and so does a tool without a pin on a server in Pins. On other servers, a tool that
	// differs from its first listing causes a warning.
	Pins Pins

	// RefuseChanged leaves out the tools for which Pins describes a warning. If an existing Set has them, their calls
	// fail with [tools.KindDenied]. After a lost connection, the server's tools are listed again before any call; if
	// the listing fails, the call fails with [tools.KindUnavailable].
	RefuseChanged bool

	// Secrets are removed from tool names, titles, descriptions and schemas, which the model and its clients read: a
	// server may repeat tokens that it was given. [policy.Redact] removes secrets from results and errors. Nil removes
	// nothing.
	Secrets *policy.Secrets

	// --- Limits for one server

	// MaxMessage is the maximum size in bytes of a message from a server. If a response is larger, or has more than
	// 1,048,576 JSON values, its call fails and the response is not kept in memory. Zero means 64 MiB.
	MaxMessage int

	// MaxResult is the maximum size of a call's result, and of an error's data, in bytes of JSON. Zero means 4 MiB.
	MaxResult int

	// Limits of a listing, which only tests change. What exceeds them is left out with a warning; a
	// longer description is cut.
	maxTools       int // 10,000
	maxPages       int // 1,000
	maxListing     int // 16 MiB of JSON, with one JSON value per 64 bytes
	maxDescription int // 64 KiB
	maxSchema      int // 256 KiB

	// --- Notifications and questions of servers

	// OnToolsChanged is called when a server reports that its tools have changed, or has different tools after a
	// reconnection, at most twice a second for each server. With Background, it is called whenever the result of
	// [Servers.Tools] has changed. An existing Set does not change; a new Set has the current tools.
	OnToolsChanged func(server string)

	// OnElicit is called when a server prompts the user during a call: to fill in a form, or to visit an address (see
	// Mode of the parameters). If it is nil, the client does not offer elicitation, and a server that asks anyway gets
	// an error. A server gets at most 20 answers until it responds to a call. In protocol versions before 2026-07-28,
	// ctx is the connection's context, not the call's. Close waits for OnElicit to return. OnElicit is called
	// concurrently.
	OnElicit func(ctx context.Context, server string, p *mcp.ElicitParams) (*mcp.ElicitResult, error)

	// --- Logging

	// Logger logs connections, failures, and the warnings that [tools.Set.Warnings] cannot return: warnings that arise
	// after the tools were listed, and warnings of an Open that failed. It logs what a failed server wrote to stderr,
	// but no arguments, results or environment variables. Nil logs nothing.
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	d.ConnectTimeout = cmp.Or(d.ConnectTimeout, 60*time.Second)
	d.Grace = cmp.Or(d.Grace, time.Second)
	d.MaxMessage = cmp.Or(d.MaxMessage, 64<<20)
	d.MaxResult = cmp.Or(d.MaxResult, 4<<20)
	d.maxTools = cmp.Or(d.maxTools, 10_000)
	d.maxPages = cmp.Or(d.maxPages, 1_000)
	d.maxListing = cmp.Or(d.maxListing, 16<<20)
	d.maxDescription = cmp.Or(d.maxDescription, 64<<10)
	d.maxSchema = cmp.Or(d.maxSchema, 256<<10)
	d.Logger = cmp.Or(d.Logger, slog.New(slog.DiscardHandler))
	return d
}
