// Package mcptools supplies the tools of MCP servers to programs. It starts the
// servers of a configuration file, keeps them apart from the host, and makes
// each of their tools a [tools.Tool]:
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
//	    }
//	  }
//	}
//
// # Results
//
// A call returns what the tool's declaration says. With an output schema it is
// the structured content, or text that is JSON and valid against the schema;
// anything else fails with [tools.KindInvalidResult]. Without one it is
//
//   - a string, if all content is text: several blocks are joined by newlines,
//     and text that looks like JSON stays text;
//   - an array of the content blocks as the server sent them ({type: "image",
//     …}), if any of them is something else than text;
//   - the structured content, if there is no content;
//   - null, if there is nothing at all.
//
// JSON passes through as the server wrote it: integers of any size and the
// order of properties are kept, in results as in schemas.
//
// # Life
//
// A server that ends, or an HTTP session that is lost, comes back when it is
// next used: by a call, or by a listing. A call that was in flight is unknown
// and not repeated; one that had not been sent is, once. A server that keeps
// failing is tried ever less often, and [Servers.Status] says why and when. The
// tools of a Set stay what they were; [Options.OnToolsChanged] says when to
// build another, and [Servers.Pins] what has changed since it was approved.
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
//	a result too large or malformed       invalid_result
package mcptools
