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

// Options says how servers are run. The zero value of every field is its
// default, and nil Options are all defaults.
type Options struct {
	// --- Connecting

	// ConnectTimeout bounds starting one server up to its answer to the
	// handshake, and again each listing of its tools. The "timeout" of its
	// configuration entry takes precedence. Zero is 60 seconds, since npx may
	// have to fetch a server first.
	ConnectTimeout time.Duration

	// Grace is how long Close waits for a server to end after closing its
	// stdin, and again after SIGTERM, before killing it; and for the end of an HTTP
	// session. Zero is one second.
	Grace time.Duration

	// Lazy starts no server before its tools are first listed, by
	// [Servers.Tools], which then takes as long as Open would have, and fails
	// for no server. By default Open starts them.
	Lazy bool

	// Background makes Open return at once and never fail over a server. Each
	// server is listed as soon as it has connected; again when it says that its
	// tools have changed, or is lost; and again after a failure, at growing
	// intervals of up to a minute. [Servers.Tools] then returns the last listings
	// without waiting, OnToolsChanged says when they have changed, and
	// [Servers.Wait] waits until every server has been listed or has failed.
	// Lazy has no effect then.
	Background bool

	// Env names variables of the host that servers inherit beside the few that
	// programs need to run at all: PATH, HOME, USER, LOGNAME, SHELL, LANG,
	// LC_ALL, TZ and TMPDIR, and on Windows what stands for them. A server
	// gets nothing else of the host's environment, which often holds secrets;
	// what one server needs belongs in the "env" of its entry.
	Env []string

	// Input answers what a configuration asks for with ${input:id}, such as a
	// password. It is called once for each input that is used. If it has no
	// answer, that of the environment variable INPUT_ID holds, whose name is the
	// id in capitals with _ for what is neither an ASCII letter nor a digit, and
	// then the input's default; without one that is an error. Nil has no answers.
	Input func(Input) (value string, ok bool)

	// --- Servers at a URL

	// HTTPClient carries the requests to remote servers: its Transport, which
	// decides about proxies and certificates, and its Jar. Its Timeout is not
	// heeded, since a stream may live long, nor its CheckRedirect: redirects are
	// followed within a server's origin only. Nil is [http.DefaultTransport].
	HTTPClient *http.Client

	// HeaderFunc returns headers for one request to a remote server, beside
	// those of its entry, and in place of those of the same name. It is called
	// for each request, with the values of the context of the call that makes
	// it, so that the identity of whoever asks reaches the server; and with
	// those of the context of [Open], [Start] or [Connect] for what belongs to
	// no call, also when a lost session is made anew: the handshake, the stream
	// of what the server has to say, the end. An error fails the call,
	// before anything is sent. Headers of the protocol cannot be replaced. It is
	// called concurrently.
	HeaderFunc func(ctx context.Context, server string) (http.Header, error)

	// OAuth authorizes the requests to remote servers, by the server's name:
	// the SDK's [auth.AuthorizationCodeHandler], or one of its package extauth.
	// Its tokens take precedence over an Authorization header. Authorizing is
	// part of connecting, and so within ConnectTimeout.
	OAuth map[string]auth.OAuthHandler

	// --- Trust: what is believed of servers and of files

	// Trust names the servers whose hints are believed by policies, too: that a tool
	// only reads, may be repeated, or destroys. Replay believes the first two of every
	// server ([tools.Claims]); a server that lies makes effects happen twice. A file
	// cannot say so; only the host can.
	Trust []string

	// AllowAutoApprove heeds what the configuration says need not be approved:
	// "autoApprove", "alwaysAllow" and "trust". Then [Servers.AutoApproved]
	// reports it. The default is that a file is no authority, since whoever may
	// write it could approve anything.
	AllowAutoApprove bool

	// Pins are the tools that the host has approved, as [Servers.Pins] gave
	// them. A tool of a server named there that differs from its pin, or has
	// none, is a warning; for other servers, one that differs from when it was
	// first listed.
	Pins Pins

	// RefuseChanged leaves out the tools that would be such a warning, and fails
	// calls of those that a Set has already with [tools.KindDenied]. A server
	// that was lost is asked for its tools again before one is called; if it
	// does not list them, the call fails with [tools.KindUnavailable].
	RefuseChanged bool

	// Secrets are taken out of what servers say of their tools: names, titles,
	// descriptions and schemas, with their defaults. Servers repeat tokens that they
	// were given, and the model and its clients read these texts. [policy.Redact] does
	// the same for results and errors. Nil takes out nothing.
	Secrets *policy.Secrets

	// --- Limits of what is taken from one server

	// MaxMessage is the largest message, in bytes, that is read from a server.
	// A larger answer fails its call and is not kept in memory; neither is one of
	// more than 1,048,576 JSON values. Zero is 64 MiB.
	MaxMessage int

	// MaxResult is the largest result of one call, and the largest data of an
	// error, in bytes of JSON. Zero is 4 MiB.
	MaxResult int

	// MaxTools is how many tools are taken from one server. Zero is 10,000.
	MaxTools int

	// MaxPages is how many pages of tools are read from one server. Zero is
	// 1,000.
	MaxPages int

	// MaxListing is the size, in bytes of JSON, from which on no more pages of
	// tools are read from one server. Zero is 64 MiB.
	MaxListing int

	// MaxDescription is how much of a tool's description is kept, in bytes. It
	// is cut at a sentence, with a warning. Zero is 64 KiB.
	MaxDescription int

	// MaxSchema is the largest schema of a tool, in bytes. The tool of a larger
	// one goes without, with a warning. Zero is 256 KiB.
	MaxSchema int

	// --- What servers say, and ask

	// OnToolsChanged is called when a server says that its tools have changed,
	// or has others when it has come back, at most twice a second for each; with
	// Background, whenever [Servers.Tools] has others. A Set stays as it is; a
	// new one has the tools as they are now.
	OnToolsChanged func(server string)

	// OnProgress is called with what servers say of calls that they are working
	// on; ctx is the call's. Nil asks them for none. This and the other On
	// functions that return nothing are called for one server one at a time, in
	// order, and possibly after the call has ended; a server that says more
	// than they take in is heard in part, with a warning.
	OnProgress func(ctx context.Context, p Progress)

	// OnLog is called with the logs of servers, from LogLevel on, which is
	// "info" if empty. Nil asks them for none.
	OnLog    func(l Log)
	LogLevel string

	// OnElicit is called with what a server asks the user during a call: to
	// fill in a form, or to visit an address (see Mode of the parameters). Nil
	// offers servers no such thing, and those that ask get an error. A server
	// gets at most 20 answers until it answers a call. In protocol versions
	// before 2026-07-28 the context is not the call's. It ends with the
	// connection; Close waits for the function to return. It is called
	// concurrently.
	OnElicit func(ctx context.Context, server string, p *mcp.ElicitParams) (*mcp.ElicitResult, error)

	// OnSample is called with what a server asks the host's model; else it is
	// as OnElicit.
	OnSample func(ctx context.Context, server string, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)

	// --- What the host is told

	// Logger is told of servers that connect and fail, and of what
	// [Servers.Warnings] has come to say since the tools were listed, or if Open
	// fails; all else is in [tools.Set.Warnings]. Nil logs nothing. What a failed
	// server wrote to stderr is logged; arguments, results and variables are not.
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
	d.MaxTools = cmp.Or(d.MaxTools, 10_000)
	d.MaxPages = cmp.Or(d.MaxPages, 1_000)
	d.LogLevel = cmp.Or(d.LogLevel, "info")
	d.MaxListing = cmp.Or(d.MaxListing, 64<<20)
	d.MaxDescription = cmp.Or(d.MaxDescription, 64<<10)
	d.MaxSchema = cmp.Or(d.MaxSchema, 256<<10)
	d.Logger = cmp.Or(d.Logger, slog.New(slog.DiscardHandler))
	return d
}
