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

	// ConnectTimeout limits the time to start one server until it answers the handshake, and the time of each listing
	// of its tools. The "timeout" of its entry takes precedence. Zero means 60 seconds, because npx may have to fetch
	// a server first.
	ConnectTimeout time.Duration

	// Grace is how long Close waits for a server to exit after closing its stdin, and again after
	// SIGTERM, before killing it; and for the end of an HTTP session. Zero means one second.
	Grace time.Duration

	// Background makes Open return at once, without an error if a server fails. Each server is
	// listed when it has connected; again when it reports a change of its tools, or is lost; and
	// again after a failure, at growing intervals of up to a minute. [Servers.Tools] returns the
	// last listings without waiting, OnToolsChanged reports when they have changed, and
	// [Servers.Wait] waits until every server has been listed or has failed.
	Background bool

	// Env names variables of the host that servers inherit, in addition to the few that most programs need: PATH,
	// HOME, USER, LOGNAME, SHELL, LANG, LC_ALL, TZ and TMPDIR, and their counterparts on Windows. A server gets
	// nothing else from the host's environment, which often contains secrets. Variables for one server belong in the
	// "env" of its entry.
	Env []string

	// --- Servers with a URL

	// HTTPClient sends the requests to remote servers. Only its Transport, for proxies and certificates, and its Jar
	// are used. Its Timeout is ignored, because a stream may stay open for a long time. Its CheckRedirect is ignored
	// too: redirects are followed only within a server's origin. Nil means a copy of [http.DefaultTransport] that keeps
	// more idle connections.
	HTTPClient *http.Client

	// HeaderFunc returns headers for one request to a remote server. They replace headers of the same name in its
	// entry, but not the headers of the protocol. HeaderFunc gets the values of the context of the call that makes
	// the request, so that the identity of the caller can reach the server. Requests that belong to no call, such as
	// a handshake, even the one after a lost session, get the values of the context of [Open], [Start] or [Connect].
	// An error fails the call before anything is sent. HeaderFunc is called concurrently.
	HeaderFunc func(ctx context.Context, server string) (http.Header, error)

	// OAuth authorizes the requests to remote servers, by the server's name: the SDK's
	// [auth.AuthorizationCodeHandler], or a handler of its package extauth. Its tokens replace an Authorization
	// header. Authorization is part of connecting, so ConnectTimeout includes it.
	OAuth map[string]auth.OAuthHandler

	// --- Trust in servers and files

	// Trust names the servers whose claims about their tools policies believe: that a tool only reads, may be
	// repeated, or is destructive. Replay believes the first two claims of every server ([tools.Tool].Claimed), so a
	// server that lies can make effects happen twice. A file cannot set this; only the host can.
	Trust []string

	// Pins are the tools that the host has approved, from [Servers.Pins]. There is a warning about each tool that
	// differs from its pin or, on a server in Pins, has no pin. On other servers, there is a warning about each tool
	// that differs from its first listing.
	Pins Pins

	// RefuseChanged leaves out the tools with such a warning, and fails calls of those that a Set
	// already has with [tools.KindDenied]. The tools of a server that was lost are listed again
	// before one is called; if the listing fails, the call fails with [tools.KindUnavailable].
	RefuseChanged bool

	// Secrets are removed from what servers say about their tools: names, titles, descriptions and
	// schemas, including defaults. Servers may repeat tokens that they were given, and the model and its clients read
	// it. [policy.Redact] does the same for results and errors. Nil removes nothing.
	Secrets *policy.Secrets

	// --- Limits for one server

	// MaxMessage is the size of the largest message, in bytes, that is read from a server. A larger
	// response fails its call and is not kept in memory; the same applies to a response with more
	// than 1,048,576 JSON values. Zero means 64 MiB.
	MaxMessage int

	// MaxResult is the size of the largest result of one call, and of the largest data of an error,
	// in bytes of JSON. Zero means 4 MiB.
	MaxResult int

	// Limits of a listing, which only tests change. What exceeds them is left out with a warning; a
	// longer description is cut.
	maxTools       int // 10,000
	maxPages       int // 1,000
	maxListing     int // 16 MiB of JSON, with one JSON value per 64 bytes of it
	maxDescription int // 64 KiB
	maxSchema      int // 256 KiB

	// --- Notifications and questions of servers

	// OnToolsChanged is called when a server reports that its tools have changed, or has different tools after a
	// reconnection, at most twice a second for each server. With Background, it is called whenever the result of
	// [Servers.Tools] has changed. An existing Set does not change; a new one has the current tools.
	OnToolsChanged func(server string)

	// OnElicit is called when a server asks the user something during a call: to fill in a form, or to visit an
	// address (see Mode of the parameters). If it is nil, servers are told that they cannot ask, and if they ask
	// anyway, they get an error. A server gets at most 20 answers until it responds to a call. In protocol versions
	// before 2026-07-28, the context is the connection's and not the call's. Close waits for the function to return.
	// It is called concurrently.
	OnElicit func(ctx context.Context, server string, p *mcp.ElicitParams) (*mcp.ElicitResult, error)

	// --- Logging

	// Logger logs servers that connect and fail, and the warnings that arise after the tools were
	// listed, or if Open fails; [tools.Set.Warnings] has all others. It logs what a failed server
	// wrote to stderr, but no arguments, results or variables. Nil logs nothing.
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
