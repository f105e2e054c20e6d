// Playground serves a page on which you give tasks to an agent, watch it, and decide on its calls.
//
//	go run ./examples/playground -config mcp_servers.json -model openai:gpt-5
//
// Without -model, the model is scripted, and its tools are those of a small shop in this process. With -journal, runs
// are kept in a folder, and can be resumed after the program has ended.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/playground"
	"github.com/writ-go/writ/examples/internal/logins"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/policy"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process
	if err := run(ctx, os.Args[1:], show.Writer(os.Stderr)); errors.Is(err, flag.ErrHelp) {
		return
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, w io.Writer) error {
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	flags.SetOutput(w)
	config := flags.String("config", "", "`file` that lists the MCP servers (default: the tools of a small shop)")
	name := flags.String("model", "", models.Usage+"; without it, the replies are scripted")
	folder := flags.String("journal", "", "`folder` that keeps the runs (default: in memory)")
	addr := flags.String("addr", "127.0.0.1:0", "loopback `address` to listen on; port 0 means a free one")
	trust := flags.String("trust", "", "comma-separated `servers` to trust when they say what their tools do")
	every := flags.Bool("ask", false, "ask before every call that may change something, not only before destructive "+
		"calls of trusted servers")
	holds := flags.Bool("holds", false, "ask you, and not the model, whether a call repeats one that it resembles")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *name == "" && *config != "" || flags.NArg() > 0 {
		return errors.New("the scripted model knows only the shop's tools; use -config with -model, and no arguments")
	}
	store := journal.NewMemory()
	if *folder != "" {
		var err error
		if store, err = journal.OpenDir(*folder); err != nil {
			return err
		}
	}
	set, err := newShop(ctx)
	if *config != "" {
		var servers *mcptools.Servers
		trusted := strings.FieldsFunc(*trust, func(r rune) bool { return r == ',' })
		options := &mcptools.Options{Trust: trusted, OAuth: logins.Handler("agent", *config)}
		if servers, err = mcptools.Open(ctx, *config, options); err != nil {
			return err
		}
		defer servers.Close()
		for _, s := range servers.Status() {
			if s.Err != nil {
				fmt.Fprintf(w, "server %s is not available: %v\n", s.Name, s.Err)
			}
		}
		set, err = tools.NewSet(ctx, servers)
	}
	if err != nil {
		return err
	}
	options := playground.Options{Note: "Model: " + *name}
	model := scripted
	if *name == "" {
		options.Note = "The model is scripted: its replies are part of this example, whatever the task is. " +
			"Everything else is real. For a real model, start the playground with -model."
		options.Example = "Refund the order o-17 if it has arrived broken."
	} else if model, err = models.Open(*name, models.Options{Progress: w}); err != nil {
		return err
	}
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	asked := policy.Or(policy.Destructive(), policy.Repeats())
	if *every {
		asked = policy.Class(tools.Effect, tools.Idempotent)
	}
	set = set.With(policy.If(asked, policy.Approve(nil)))
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "open this URL in a browser on this machine; Ctrl-C ends the playground:")
	runs := agent.NewRuns(store)
	runs.AskHolds = *holds
	return playground.New(runs, bot, &options).Serve(ctx, *addr, w)
}
