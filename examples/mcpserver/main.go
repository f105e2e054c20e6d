// Mcpserver gives any MCP client programs: JavaScript that calls the tools of other
// MCP servers, in a sandbox.
//
//	go run ./examples/mcpserver -config mcp_servers.json
//
// It speaks MCP on stdin and stdout and writes nothing else there; messages for
// people go to stderr. It ends when its client closes stdin. With -transport http it
// serves many clients; README.md beside this file has more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(start(os.Args[1:])) }

// start is the whole process.
func start(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	return process{os.LookupEnv, hup, os.Stdin, os.Stdout, os.Stderr}.command(ctx, args)
}

// process has the parts of the operating system process that the server uses.
type process struct {
	lookup         func(variable string) (string, bool)
	hup            <-chan os.Signal
	stdin          io.ReadCloser
	stdout, stderr io.Writer
}

// command is the program: arguments in, exit code out. The code is 2 when the
// settings are wrong and 1 when what they say cannot be done.
func (p process) command(ctx context.Context, args []string) int {
	s := newSettings(p.stderr)
	s.serving.In, s.serving.Out = p.stdin, p.stdout
	s.oauth.secret, _ = p.lookup(secretVariable)
	err := parse(s.options(), args, p.lookup)
	if errors.Is(err, flag.ErrHelp) {
		help(p.stdout, s.options())
		return 0
	}
	if err = errors.Join(err, s.problems(ctx)); err != nil {
		fmt.Fprintf(p.stderr, "mcpserver: the configuration is wrong (-help has all flags):\n%v\n", err)
		return 2
	}
	if err := p.run(ctx, s); err != nil && ctx.Err() == nil {
		fmt.Fprintln(p.stderr, "mcpserver:", err)
		return 1
	}
	return 0
}

func (p process) run(ctx context.Context, s *settings) error {
	a, err := open(ctx, s, p.stderr)
	if err != nil {
		return err
	}
	defer a.close()
	if s.check {
		return a.check(ctx, p.stdout)
	}
	return a.serve(ctx, s.transport(a.log, a.queue), p.hup)
}
