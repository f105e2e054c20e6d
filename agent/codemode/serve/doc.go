// Package serve runs an MCP server: its transports, authentication, limits, metrics and shutdown.
//
//	package main
//
//	import (
//		"context"
//		"log"
//		"os"
//		"os/signal"
//		"syscall"
//
//		"github.com/modelcontextprotocol/go-sdk/mcp"
//		"github.com/writ-go/writ/agent/codemode/serve"
//	)
//
//	func main() {
//		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//		defer stop()
//		tokens, err := serve.TokenFile("tokens.json")
//		if err != nil {
//			log.Fatal(err)
//		}
//		server := mcp.NewServer(&mcp.Implementation{Name: "mine", Version: "1"}, nil)
//		// … server.AddTool
//		err = serve.Run(ctx, func(serve.Principal) *mcp.Server { return server },
//			&serve.Options{Transport: serve.HTTP, Auth: tokens})
//		if err != nil {
//			log.Fatal(err)
//		}
//	}
//
// # Transports
//
// Over stdio there is one client, which is the program that started the process. Over HTTP, one address serves clients
// with protocol version 2026-07-28, whose requests are independent, and clients with older versions, which have
// sessions. With Options.Stateless, clients with older versions have no sessions either, so that any replica can serve
// any request. In that case, the server cannot notify clients that tools have changed or ask them questions, and
// ignores their cancellations. The transport of protocol 2024-11-05, HTTP with SSE, is not served.
//
// State that outlives a request belongs to a [Principal] and not to a protocol session. The server's tools return a
// handle for it.
//
// A Go program with its own http.Server mounts a [Handler] instead of calling [Run].
//
// # Authentication
//
// Without authentication, only clients on this machine are served: [Run] refuses to listen on other addresses, and a
// [Handler] refuses requests from other addresses, unless the program's middleware has authenticated them. With
// authentication, every request needs a bearer token, which identifies a principal: [TokenFile] reads tokens from a
// file, [JWT] and [Introspection] verify those of OAuth, and [Auth] accepts any other verifier. A session belongs to
// the principal that began it; for other principals, it does not exist. Tool handlers cannot see tokens or cookies, so
// they cannot leak them. Each principal sees and calls only the tools that it may use; see [Principal].Tools.
//
// Tokens are not encrypted in transit: to listen on addresses other than those of this machine, use a proxy with TLS,
// or a Listener with TLS.
//
// At every path, the server refuses requests for unknown host names, and requests from web pages that are not allowed.
// See Options.Hosts and Options.Origins.
//
// # Limits
//
// A message may have 4 MiB and 100,000 JSON values; the server measures it while reading it. A principal may have
// 512 open requests, with decoded messages of an estimated 64 MiB in total, and 256 sessions of the older protocols.
// A session ends after 30 minutes without a request. Options.Rate bounds the messages per second. A client may take 20
// seconds to send a message, or to accept a piece of a response. A message that is too large gets status 413, and a
// message that arrives too slowly gets 408; other requests that exceed a limit get 429 or 503 with Retry-After.
//
// A [queue.Queue], in which calls wait for their turn, bounds the number of calls that run at once. It is fair between
// principals. If a call cannot wait, the queue rejects it with [queue.ErrBusy].
//
// # Shutdown
//
// When its context is done, or the client on stdio closes its end, [Run] accepts no more calls and lets running calls
// finish within Options.Grace. Until then, clients can still answer the questions of running calls. After that, Run
// cancels the running calls, with the cause [queue.ErrStopped], and rejects the calls that still wait in a [queue.Queue]. The last
// log entry has the number of canceled calls. [Handler.Shutdown] does the same for a Handler.
//
// # Paths
//
//	/mcp       the protocol; see Options.Path
//	/healthz   200 while the process runs
//	/readyz    200, or 503 during shutdown
//	/.well-known/oauth-protected-resource/…   with OAuth: where to get a token
//
// The health paths need no token and reveal nothing else.
//
// Options.MeterProvider and queue.Options.MeterProvider create OpenTelemetry metrics, which docs/telemetry.md lists.
// Options.TracerProvider creates a span for each tool call, which continues the client's trace. Unless the provider's
// sampler ignores remote parents, the client decides whether its trace is sampled.
// Metrics and spans contain no principal names; the log contains them at level debug. The log never contains a token, a
// header, the query of a URL, or a message.
package serve
