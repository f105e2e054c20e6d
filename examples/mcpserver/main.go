// Mcpserver gives any MCP client one tool, execute_code: a JavaScript program
// that calls the tools of other MCP servers, in a sandbox.
//
//	go run ./examples/mcpserver -config mcp_servers.json
//
// It speaks MCP on stdin and stdout and writes nothing else there; messages for
// people go to stderr. It ends when its client closes stdin.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], &mcp.StdioTransport{}, os.Stderr)
	stop()
	os.Exit(code)
}

// command is the program: arguments in, exit code out.
func command(ctx context.Context, args []string, transport mcp.Transport, stderr io.Writer) int {
	flags := flag.NewFlagSet("mcpserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	config := flags.String("config", "", "`file` that lists the MCP servers whose tools programs may call; none by default")
	kind := flags.String("transport", "stdio", "how clients connect: stdio")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if *kind != "stdio" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "mcpserver: the only transport is stdio, and there are no arguments besides the flags")
		return 2
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	if err := serve(ctx, *config, transport, log); err != nil && ctx.Err() == nil {
		fmt.Fprintln(stderr, "mcpserver:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, config string, transport mcp.Transport, log *slog.Logger) error {
	var sources []tools.Source
	if config != "" {
		servers, err := mcptools.Open(ctx, config, &mcptools.Options{Logger: log})
		if err != nil {
			return err
		}
		defer servers.Close()
		sources = append(sources, servers)
	}
	set, err := tools.NewSet(ctx, sources...)
	if err != nil {
		return err
	}
	for _, w := range set.Warnings() {
		log.Warn(w)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	err = newServer(box, set).Run(ctx, transport)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
