// Package mcptools provides the tools of MCP servers to programs. It starts the servers in a configuration file or
// connects to them, bounds what they send, and makes each of their tools a [tools.Tool]:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/writ-go/writ/tools"
//		"github.com/writ-go/writ/tools/mcptools"
//	)
//
//	func main() {
//		ctx := context.Background()
//		servers, err := mcptools.Open(ctx, "mcp_servers.json", nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer servers.Close()
//		for _, s := range servers.Status() {
//			fmt.Println(s.Name, s.ProtocolVersion, s.Err)
//		}
//		set, err := tools.NewSet(ctx, servers)
//		if err != nil {
//			log.Fatal(err)
//		}
//		for _, b := range set.Bindings() {
//			fmt.Println(b.Path(), "-", b.Description)
//		}
//	}
//
// The file has the format that MCP clients use:
//
//	{
//	  "mcpServers": {
//	    "files": {
//	      "command": "npx",
//	      "args": ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/notes"]
//	    },
//	    "tickets": {
//	      "url": "https://tickets.example.com/mcp",
//	      "headers": {"Authorization": "Bearer ${TICKETS_TOKEN}"}
//	    }
//	  }
//	}
//
// # Configuration
//
// Servers are under "mcpServers", "servers" or "context_servers". The keys of an entry are:
//
//	command, args, env, cwd   the program
//	envFile                   file of NAME=value lines; env takes precedence
//	url, serverUrl, httpUrl   the address of a remote server
//	type, transport           stdio; http, streamable-http; sse; in any spelling
//	headers                   sent to the remote server only
//	disabled, enabled         whether the server is started
//	timeout                   in seconds; from 1,000 on, in milliseconds
//	description               what the server is for
//	tools, allowedTools, includeTools, enabledTools, availableTools
//	                          patterns of the tools to use; others are left out
//	disabledTools, excludeTools, excludedTools
//	                          patterns of the tools to leave out
//
// Lists of tools may also be spelled with underscores. Other keys cause warnings.
// [ParseConfig] and [ReadConfig] describe references to variables.
//
// # Remote servers
//
// A server with a URL is reached over streamable HTTP (protocol version 2026-07-28, or the newest version that the
// server supports) or over the older HTTP with SSE. Headers come from the server's entry, from [Options.HeaderFunc],
// which is called for each request with the call's context, and from [Options.OAuth]. Headers, the URL and the session
// ID never appear in an error, status or log entry. They are sent to the server's own origin only: a redirect to
// another origin fails.
//
// If one request fails, its call fails, but the session continues. What is known about the
// call's effect depends on how far the request got:
//
//	the server cannot be reached, or      unavailable: the call was not made
//	  refuses the request unread (401,
//	  403, 404, 405, 413, 415, 429 and
//	  the like, or a redirect 307 or 308
//	  that is not followed)
//	any other status or redirect of a     unknown, and never repeated
//	  call, or the connection breaks
//	the response is too large, or not     too_large, invalid_result; an HTML page
//	  MCP                                 is unknown
//
// # Results
//
// A call returns a result of the type that the tool's declaration states. With an output
// schema, it returns the structured content, or text that is JSON and valid against the
// schema; anything else fails with [tools.KindInvalidResult]. Without an output schema, it
// returns
//
//   - a string, if all content is text: several blocks are joined by newlines,
//     text that looks like JSON stays text, and without content the string is empty;
//   - an array of the content blocks as the server sent them ({type: "image",
//     …}), if any of them is not text;
//   - the structured content, if there is no other content or its text is the same
//     JSON, as most servers send it; texts above 1 MiB are not compared;
//   - {text, data}, if the text and the structured content differ: data is the structured
//     content, and blocks has all content blocks if any of them is not text.
//
// JSON is passed on as the server wrote it: integers of any size and the order of
// properties are preserved, in results and in schemas.
//
// # Lifetime
//
// If a server exits or an HTTP session is lost, the next call or listing starts or connects
// it again. The outcome of a call that was in flight is unknown, and the call
// is not repeated; a call that had not been sent is tried once more. After a call was
// sent, only the response to its own request can show that the call was not made: status 404, or
// the text with which an official SDK reports an unknown session. A server that keeps failing is
// tried again at growing intervals. [Servers.Status] has its error and the time of the next attempt;
// until then, its tools are those of its last listing. With [Options.Background], all of this
// happens in the background, including the first connection. If the host ends without
// [Servers.Close], the stdin of the servers on stdio is closed; on Linux, they are killed with
// their process groups, even if the host was killed.
//
// The _meta of a call that a journal records has the call's ID under io.github.writ-go/effect-id, unless the tool only
// reads. See [tools.EffectID]. A server can use the ID as an idempotency key. If the context of a call has an
// OpenTelemetry span, the _meta also has traceparent and tracestate of W3C Trace Context, and so have the headers of
// the call's HTTP requests, unless the entry or [Options.HeaderFunc] sets them.
//
// Tools that can be called only as tasks of protocol 2025-11-25 are left out with a warning.
// Tools that a server offers only to its own user interface (MCP Apps) are left out without a warning.
//
// A Set's tools do not change. [Options.OnToolsChanged] reports when to build a new Set, and [Servers.Pins] shows what
// has changed since the tools were approved. A restarted server may be a different version: before the first call its
// tools are listed again and compared, and with [Options.RefuseChanged] a changed tool is not called.
//
// # Failures
//
// A failed call returns a [tools.ToolError] for the program. Its Unwrap is for the
// host only: it names the server and, if the server has exited, its exit status
// and the end of its stderr.
//
//	the tool or server reports an error   failed; Data has its structured content
//	the server does not know the tool     unknown_tool
//	the server refuses the arguments      invalid_arguments
//	the server refuses the result         invalid_result
//	the context's deadline passes         timeout
//	the context is canceled               cancelled
//	the server's question is unanswered   failed; see Options.OnElicit
//	the server ends during the call       unknown
//	the server cannot be started again    unavailable
//	the server refuses the request        unavailable
//	the result is too large               too_large
//	the result is malformed               invalid_result
//	the tool has changed                  denied; see Options.RefuseChanged
//
// The kind of an error that the server reports, in a result or as a JSON-RPC error, depends on its text alone. Only the
// exact messages with which the official SDKs reject this tool or its arguments before the tool runs, or the tool's
// result afterward, have their own kinds. Any other error has the kind failed, whatever its code, and the tool may have
// had an effect: the TypeScript SDK uses the code -32602 for all of them.
package mcptools
