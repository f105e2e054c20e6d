// Package mcptools supplies the tools of MCP servers to programs. It starts or
// reaches the servers of a configuration file, keeps them apart from the host,
// and makes each of their tools a [tools.Tool]:
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
// The file is what MCP clients already use:
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
// Servers are under "mcpServers", "servers" or "context_servers", there or within
// "mcp", or under "mcp" itself, or they are the whole document. Keys of an entry:
//
//	command, args, env, cwd   the program; command may be {path, args, env}, or an
//	                          array with the arguments
//	environment               the same as env
//	envFile                   NAME=value lines for env, which takes precedence
//	url, serverUrl, httpUrl   the address of a remote server
//	type, transport           stdio; http, streamable-http; sse; any spelling
//	headers                   sent to the remote server, and nowhere else
//	disabled, enabled         whether it is started
//	timeout                   seconds, or milliseconds from 1,000 on
//	description               what it is for
//	tools, allowedTools, includeTools, enabledTools, availableTools
//	                          patterns of the only tools to take
//	disabledTools, excludeTools, excludedTools
//	                          patterns of the tools to leave out
//	autoApprove, alwaysAllow, trust
//	                          tools that need no approval; see
//	                          [Options.AllowAutoApprove]
//
// Lists of tools may also be written with underscores. Other keys are warnings.
// [ParseConfig] and [ReadConfig] say what references stand for.
//
// # Remote servers
//
// A server at a URL is spoken to over streamable HTTP, in protocol 2026-07-28 or
// in the newest that it knows, or over its predecessor, HTTP with SSE. Headers
// come from its entry, from [Options.HeaderFunc] for each request with the
// context of the call, and from [Options.OAuth]. They, the URL and the session's
// id are in no error, status or log entry, and go to the server's own origin
// only: a redirect elsewhere fails.
//
// What goes wrong with one request fails its call, and not the session. What is
// known of the call's effect depends on how far it came:
//
//	it cannot be reached, or turns the       unavailable: nothing was done
//	  request away unread (401, 403, 404,
//	  405, 413, 415, 429 and the like, or
//	  a redirect 307 or 308 not followed)
//	any other status, other redirects of a   unknown, and never repeated
//	  call, or the connection breaks
//	an answer too large, or none of MCP      invalid_result; a page of HTML is unknown
//
// # Results
//
// A call returns what the tool's declaration says. With an output schema it is
// the structured content, or text that is JSON and valid against the schema;
// anything else fails with [tools.KindInvalidResult]. Without one it is
//
//   - a string, if all content is text: several blocks are joined by newlines,
//     text that looks like JSON stays text, and no content is no text;
//   - an array of the content blocks as the server sent them ({type: "image",
//     …}), if any of them is something else than text;
//   - {text, data}, if there is structured content: data is that, whether or not
//     the text repeats it, and blocks has all content if any of it is something
//     else than text.
//
// JSON passes through as the server wrote it: integers of any size and the
// order of properties are kept, in results as in schemas.
//
// # Life
//
// A server that ends, or an HTTP session that is lost, comes back when it is
// next used: by a call, or by a listing. A call that was in flight is unknown
// and not repeated; one that had not been sent is, once. Only a 404 to the call's
// own request says so of a call that has left. A server that keeps
// failing is tried ever less often, and [Servers.Status] says why and when; its
// tools stay those of its last listing. With [Options.Background] all of that
// happens without a call, from the start on, and holds up nobody. The
// tools of a Set stay what they were; [Options.OnToolsChanged] says when to
// build another, and [Servers.Pins] what has changed since it was approved. A
// server that came back may be another version: before the first call its tools
// are listed again and compared with what they were, and with
// [Options.RefuseChanged] one that has changed is not called.
//
// # Failures
//
// A failed call is a [tools.ToolError] for the program. Its Unwrap is for the
// host only: it names the server and, if that has ended, shows how, and what it
// last wrote to stderr.
//
//	the tool reports an error             failed; Data holds its structured content
//	JSON-RPC -32601, or an unknown tool   unknown_tool
//	JSON-RPC -32602                       invalid_arguments
//	any other JSON-RPC error              failed
//	the context's deadline passes         timeout
//	the context is cancelled              cancelled
//	it asks its client, and gets nothing  failed; see Options.OnElicit
//	the server ends during the call       unknown
//	the server does not come back         unavailable
//	the server refuses the request        unavailable
//	a result too large or malformed       invalid_result
//	the tool has changed                  denied; see Options.RefuseChanged
//
// An error that a tool reports is failed, but for the exact words by which the
// TypeScript SDK turns arguments away, or a tool that it does not have, before the
// tool is run.
package mcptools
