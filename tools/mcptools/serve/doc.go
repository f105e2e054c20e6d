// Package serve is what an MCP server needs beside its tools: transports, and who
// may use them, how much, and until when.
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
//		"github.com/writ-go/writ/tools/mcptools/serve"
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
// Over stdio there is one client, which started the process. Over HTTP, one address
// serves clients of the protocol of 2026-07-28, whose requests stand each for
// itself, and of the older ones, which have sessions. With Options.Stateless the
// older ones have none either, so that any of several replicas can answer: they are
// then not told when tools change, what they cancel runs to its end, and they cannot
// be asked anything. SSE is the transport of 2024-11-05.
//
// State that outlives a request belongs to a [Principal], under a handle that the
// server's tools give out. A session of the protocol is no place for it.
//
// # Who may ask
//
// Without authentication only this machine is served: [Run] refuses to listen
// anywhere else. With it, every request carries a bearer token, which makes it a
// principal's: [TokenFile] knows them from a file, [Auth] lets an OAuth
// authorization server issue them. A session belongs to the principal that began
// it; for others it does not exist. The token is taken off the request before a
// handler sees it, as are cookies, so that it cannot be passed on. Of a server's
// tools, each principal sees and calls those that are for it; see [Principal].Tools.
//
// A token can be read on its way: whoever listens beyond this machine puts a proxy
// with TLS before it, or passes a Listener that speaks TLS.
//
// Requests for host names that are not the server's, and from web pages that may not
// ask, are refused at every path. See Options.Hosts and Options.Origins.
//
// # How much
//
// [Limits] bound what one principal sends, and the memory that its messages take once
// they are decoded: a message is measured while it is read. What its calls cost is bounded by a
// [Queue], in which the tools of the server wait for their turn. It is fair between
// principals, and says busy, with a time to come again, to those who cannot wait.
// Before a handler it is said with 429 or 503 and Retry-After.
//
// # Until when
//
// When its context ends, [Run] takes no more calls and lets those that run come to
// their end, within Options.Grace; so it does when a client closes stdin. Meanwhile
// it can still be reached, for answers to what the calls ask their clients. What
// then still runs is cancelled, if it runs in Options.Queue or if its transport ends
// with it. The last line of the log says how many calls were cut.
//
// # Paths
//
//	/mcp       the protocol; see Options.Path
//	/healthz   200 as long as the process lives
//	/readyz    200, or 503 while it shuts down or Options.Ready says why not
//	/metrics   for Prometheus; with authentication, for those who have a token
//	/.well-known/oauth-protected-resource/…   with OAuth: where to get a token
//
// The first two are for whatever starts and watches the process; they say nothing but
// this, and need no token. Metrics are for operators, yet any principal's token opens
// them: they tell how busy all are together, and whatever Options.Metrics adds. To
// collect them, give a token of its own to a principal that may use no tools
// ("tools": []); to keep them from clients, have the proxy pass on Options.Path and
// the metadata of OAuth alone.
//
// Metrics name no principals. The log, at level debug, names them; it never has a
// token, a header, an address with its query, or what a message says.
package serve
