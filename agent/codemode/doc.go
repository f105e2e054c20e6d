// Package codemode offers code mode to MCP clients: instead of calling many tools one by one, a client's model writes
// one JavaScript program that calls them, and the server checks the program and runs it in a sandbox. The tools are
// host functions, and the tools of other MCP servers.
//
//	package main
//
//	import (
//		"context"
//		"log"
//
//		"github.com/writ-go/writ/agent/codemode"
//		"github.com/writ-go/writ/tools"
//	)
//
//	type Order struct {
//		ID string `json:"id" jsonschema:"description=as in the confirmation"`
//	}
//
//	func status(ctx context.Context, o Order) (string, error) { return "shipped", nil }
//
//	func main() {
//		ctx := context.Background()
//		set, err := tools.NewSet(ctx, tools.Func("order_status", "Look up an order.", status, nil))
//		if err != nil {
//			log.Fatal(err)
//		}
//		server, err := codemode.New(&codemode.Options{Tools: set})
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer server.Close()
//		if err := server.Serve(ctx, nil); err != nil { // on stdin and stdout
//			log.Fatal(err)
//		}
//	}
//
// # Tools
//
// A [Server] offers these tools. A client gets those that [Options] and the patterns of its principal
// allow; see [serve.Principal].
//
//	execute_code               runs a program, alone or in a session
//	search_tools               finds tools that programs can call,
//	describe_tool              and declares them
//	initialize_code_file       stores a program that is too long for one message
//	append_to_code_file        …
//	read_code_file             …
//	execute_code_file          …
//	discard                    removes a code file, session or environment
//	configure_environment      manages folders of npm packages that programs may import;
//	get_environment_config     with Options.Packages
//	check_installed_packages   …
//	install_dependencies       with Options.AllowInstall
//	run_task                   carries out a task described in words, with Options.Model
//
// Every tool has an output schema and annotations, and every result also has a text form, which a model can
// read. If a program returns an MCP content block, such as {type: "image", mimeType: "image/png", data:
// base64}, alone or inside another value, the client gets the image.
//
// A client that sends a progress token with execute_code or run_task receives notifications about the program's calls
// and steps and, at most once a second, about the progress that MCP servers report. If it extends its timeout at each
// notification, slow tools do not exceed the timeout.
//
// A principal's patterns must allow both a tool in this list and the tools that its programs call: ["execute_code",
// "order_*"].
//
// # Transports
//
// [Server.Serve] serves stdio or streamable HTTP. [Server.Handler] is for a service that has an
// HTTP server, and [Server.AddTo] for a service that has an MCP server. In all cases, each
// principal sees only its own tools, code files, sessions and environments.
//
// # Limits
//
// The sandbox limits each program, [Options.Queue] limits how many programs run at once, fairly between
// principals, and package serve limits the messages of each principal.
//
// # Effects
//
// If a program fails after calls that may have taken effect, its result names a run. A program that the client passes
// with this run as retry_of does not make again what is done; see [journal]. With [Options.Journal], this also works
// after the server has ended or crashed. If a client sends a program again that succeeded, it has all its effects
// again.
//
// Package serve is github.com/writ-go/writ/agent/codemode/serve, and package journal is
// github.com/writ-go/writ/tools/journal.
package codemode
