// Mcpserver offers code mode to any MCP client: it runs JavaScript programs, which call the tools of
// other MCP servers, in a sandbox.
//
//	go run ./examples/mcpserver -config mcp_servers.json
//
// It speaks MCP on stdin and stdout, and logs to stderr. It ends when its client closes
// stdin. With -transport http, it serves many clients. README.md describes it; package codemode implements it.
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

	"github.com/writ-go/writ/agent/codemode"
	"github.com/writ-go/writ/examples/internal/logins"
	"github.com/writ-go/writ/sandbox"
)

func main() { os.Exit(start(os.Args[1:])) }

// start runs the server in this process and returns the exit code.
func start(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	return process{os.LookupEnv, hup, os.Stdin, os.Stdout, os.Stderr}.command(ctx, args)
}

// process contains the parts of the operating system process that the server uses.
type process struct {
	lookup         func(variable string) (string, bool)
	hup            <-chan os.Signal
	stdin          io.ReadCloser
	stdout, stderr io.Writer
}

// command is the program: arguments in, exit code out. The code is 2 if the settings are wrong, and 1
// if the server fails.
func (p process) command(ctx context.Context, args []string) int {
	s := newSettings(p.stderr)
	s.serving.In, s.serving.Out = p.stdin, p.stdout
	s.oauth.ClientSecret, _ = p.lookup(secretVariable)
	flags := s.flags()
	err := parse(flags, args, p.lookup)
	if errors.Is(err, flag.ErrHelp) {
		help(p.stdout, flags)
		return 0
	}
	if err == nil && s.logins != (logins.Flags{}) {
		if err = s.logins.Run(ctx, s.codemode.Config, p.stderr); err != nil {
			fmt.Fprintln(p.stderr, "mcpserver:", err)
			return 1
		}
		return 0
	}
	if err = errors.Join(err, s.complete(ctx)); err != nil {
		fmt.Fprintf(p.stderr, "mcpserver: the configuration is wrong (-help lists all flags):\n%v\n", err)
		return 2
	}
	if err := p.run(ctx, s); err != nil && ctx.Err() == nil {
		fmt.Fprintln(p.stderr, "mcpserver:", err)
		return 1
	}
	return 0
}

func (p process) run(ctx context.Context, s *settings) error {
	box, err := sandbox.New(&s.sandbox)
	if err != nil {
		return err
	}
	defer box.Close()
	s.codemode.Sandbox, s.codemode.Logger = box, slog.New(slog.NewTextHandler(p.stderr, nil))
	server, err := codemode.New(&s.codemode)
	if err != nil {
		return err
	}
	defer server.Close()
	if s.check {
		return server.Check(ctx, p.stdout, &s.serving)
	}
	go func() {
		for {
			select {
			case <-p.hup:
				server.Reload()
			case <-ctx.Done():
				return
			}
		}
	}()
	return server.Serve(ctx, &s.serving)
}
