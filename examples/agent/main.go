// Agent carries out a task described in words, using the tools of MCP servers.
//
//	go run ./examples/agent -config mcp_servers.json -model openai:gpt-5 "task"
//
// It prints progress to stderr and the answer to stdout. The exit code is 0 if the task has an answer, 1 if it has no
// answer or if -step differs from the record, 2 if the flags are wrong, and 3 if the run is paused.
//
// At a terminal, it asks before each call that a trusted server calls destructive, or with -ask before each call that
// may change something. With -journal, a run can go on after Ctrl-C, after a
// crash, and after decisions that are made later:
//
//	go run ./examples/agent -journal runs -config mcp_servers.json -model openai:gpt-5 "task"
//	go run ./examples/agent runs list -journal runs
//	go run ./examples/agent runs resume -journal runs -config mcp_servers.json -model openai:gpt-5 r-abc123
//
// In the same way, "runs show" prints what a run has done, "runs cancel" ends it for good, "runs rollback" undoes what
// it has done (with -config), and "runs prune" removes runs that ended long ago.
//
// With -login NAME, it logs in to a server that requires OAuth, and with -logout NAME, out of it.
//
// With -chat, it carries out one task after another. With -trajectory, it records what happens in a file, and with
// -step, it runs a recorded program again, with the recorded results of its calls, without a model and servers:
//
//	go run ./examples/agent -trajectory run.json -config mcp_servers.json -model openai:gpt-5 "task"
//	go run ./examples/agent -trajectory run.json -step 2
//
// With -save, the last program of a recorded run becomes a saved program, which later runs can call as a tool. The
// constants that -input names become its inputs:
//
//	go run ./examples/agent -config mcp_servers.json -programs programs -save add_up -input month=07 run.json
//	go run ./examples/agent -config mcp_servers.json -programs programs -model openai:gpt-5 "task"
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/examples/internal/apis"
	"github.com/writ-go/writ/examples/internal/logins"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/mcptools"
)

// defaultConfig is the configuration file. With -openapi, it may be missing.
const defaultConfig = "mcp_servers.json"

func main() { os.Exit(interruptible(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// interruptible runs the command. The first signal cancels its context, and the second one ends the process.
func interruptible(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return command(ctx, args, stdin, stdout, stderr)
}

// command is the program: arguments in, exit code out.
func command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	status := show.NewStatus(stderr)
	if status != nil {
		stderr = status
	}
	stdout, stderr = show.Writer(stdout), show.Writer(stderr)
	c := config{stdin: stdin, stdout: stdout, stderr: stderr, status: status, terminal: terminal{end: ctx.Done()}}
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.servers, "config", defaultConfig, "`file` that lists the MCP servers")
	apis.Flag(flags, &c.apis)
	flags.StringVar(&c.model, "model", "", models.Usage)
	flags.BoolVar(&c.json, "json", false, "print the result as JSON")
	flags.BoolVar(&c.chat, "chat", false, "carry out tasks that are typed, one after another; Ctrl-D ends it")
	flags.BoolVar(&c.quiet, "quiet", false, "do not print progress")
	flags.IntVar(&c.steps, "steps", 0, "how many programs the model may write (default 5)")
	flags.IntVar(&c.tokens, "tokens", 0, "how many tokens the model may read and write in total (default: no limit)")
	flags.StringVar(&c.report, "report", "", "a `file` for a report of the run, in HTML")
	flags.DurationVar(&c.timeout, "timeout", 0, "how long the whole task may take (default: no limit)")
	flags.StringVar(&c.journal, "journal", "", "`folder` that records runs, so that they can be resumed")
	c.logins.Define(flags)
	flags.BoolVar(&c.every, "ask", false, "ask before every call that may change something, not only before "+
		"destructive calls of trusted servers")
	flags.BoolVar(&c.holds, "holds", false, "with -journal: ask you, and not the model, whether a call that resembles "+
		"an earlier one is the same")
	flags.DurationVar(&c.older, "older", 30*24*time.Hour, "runs prune: the time since the end of the runs to remove")
	flags.StringVar(&c.trajectory, "trajectory", "", "`file` for the trajectory as JSON, also if there is no answer")
	flags.IntVar(&c.step, "step", 0, "`number` of a step in the file of -trajectory to run again, with the recorded "+
		"results of its calls, without a model and servers")
	flags.StringVar(&c.programs, "programs", "", "`folder` of saved programs, which programs can call as tools")
	flags.StringVar(&c.save, "save", "", "`name` under which to save the last program of a run in -programs; the file "+
		"of the run's -trajectory takes the place of the task")
	flags.Func("input", "`name=constant` for -save: an input that replaces a string or a number; may be repeated",
		c.addInput)
	flags.BoolVar(&c.force, "force", false, "let -save replace a program")
	flags.Func("trust", "comma-separated `servers` to trust when they say which of their tools only read",
		func(names string) error {
			c.trust = strings.Split(names, ",")
			return nil
		})
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: agent [flags] \"task\"\n       agent runs "+strings.Join(actions, "|")+" [flags] [ID]")
		flags.PrintDefaults()
	}
	if len(args) > 0 && args[0] == "runs" {
		c.action, args = args[min(1, len(args)-1)], args[min(2, len(args)):]
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if i := slices.IndexFunc(flags.Args(), func(arg string) bool { return len(arg) > 1 && arg[0] == '-' }); i >= 0 ||
		c.steps < 0 || c.tokens < 0 || c.step < 0 {
		fmt.Fprintln(stderr, "agent: write flags before the task; -steps, -tokens and -step must not be negative")
		return 2
	}
	c.task, c.flags = strings.Join(flags.Args(), " "), args[:len(args)-flags.NArg()]
	if c.action != "" {
		if err := c.check(flags.NArg()); err != nil {
			fmt.Fprintln(stderr, err)
			return 2
		}
	} else if c.holds && c.journal == "" || c.chat && c.task != "" {
		fmt.Fprintln(stderr, "agent: -holds needs -journal, and -chat takes no task")
		return 2
	}
	if c.save != "" && (c.programs == "" || c.task == "") || c.save == "" && (c.inputs != nil || c.force) {
		fmt.Fprintln(stderr, "agent: -save needs -programs and the file of a run's -trajectory; "+
			"-input and -force need -save")
		return 2
	}
	if c.step > 0 && c.trajectory == "" {
		fmt.Fprintln(stderr, "agent: -step needs -trajectory")
		return 2
	}
	err := c.perform(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "agent:", strings.TrimPrefix(err.Error(), "agent: "))
	if _, paused := errors.AsType[*agent.PausedError](err); paused {
		return 3
	}
	return 1
}

// perform does what the flags ask for.
func (c *config) perform(ctx context.Context) error {
	if c.logins != (logins.Flags{}) {
		return c.logins.Run(ctx, c.servers, c.stderr)
	}
	if c.action != "" {
		if _, err := os.Stat(c.journal); err != nil { // a new folder has no runs
			return fmt.Errorf("the folder of -journal: %w", err)
		}
	}
	switch c.action {
	case "list", "prune", "show", "cancel":
		store, err := journal.OpenDir(c.journal)
		if err != nil {
			return err
		}
		return c.manage(ctx, agent.NewRuns(store))
	case "resume":
		c.resume, c.task = c.task, ""
	}
	if c.step > 0 {
		return c.runAgain(ctx)
	}
	pred, err := c.run(ctx)
	if c.action == "rollback" || c.chat || c.save != "" {
		return err
	}
	return c.finish(pred, err)
}

// finish prints the result of a run, and writes its report and its trajectory.
func (c *config) finish(pred *module.Prediction[agent.Answer], err error) error {
	err = show.Report(c.report, c.in, pred, err)
	c.print(c.stdout, pred, err)
	return errors.Join(err, c.record(pred, err))
}

type config struct {
	servers, model, task    string
	report                  string
	journal, action, resume string
	trajectory              string
	programs, save          string
	inputs                  signature.Values
	logins                  logins.Flags
	in                      agent.Task
	trust, flags            []string
	apis                    []tools.Source
	json, quiet, every      bool
	chat, holds, force      bool
	steps, tokens, step     int
	timeout, older          time.Duration
	stdin                   io.Reader
	stdout, stderr          io.Writer
	terminal                terminal
	status                  *show.Status // nil if stderr is not a terminal
}

func (c *config) run(ctx context.Context) (*module.Prediction[agent.Answer], error) {
	if strings.TrimSpace(c.task) == "" && c.action == "" && !c.chat {
		return nil, agent.ErrNoTask
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	progress := c.stderr
	if c.quiet {
		progress = io.Discard
	}
	fmt.Fprintf(progress, "connecting to the servers of %s; npx may have to fetch them first\n", c.servers)
	servers, err := mcptools.Open(ctx, c.servers, &mcptools.Options{
		Trust: c.trust, OAuth: logins.Handler("agent", c.servers),
	})
	if len(c.apis) > 0 && errors.Is(err, fs.ErrNotExist) && c.servers == defaultConfig {
		servers, err = mcptools.Start(ctx, &mcptools.Config{}, nil)
	}
	if err != nil {
		return nil, err
	}
	defer servers.Close()
	set, err := tools.NewSet(ctx, append(c.apis, servers)...)
	if err != nil {
		return nil, err
	}
	c.introduce(servers)
	switch {
	case c.action == "rollback":
		return nil, c.undo(ctx, set)
	case c.save != "":
		return nil, c.saveProgram(ctx, set)
	}
	model, err := models.Open(c.model, models.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	box, err := sandbox.New(nil)
	if err != nil {
		return nil, err
	}
	defer box.Close()
	ctx = budget.With(ctx, budget.Limits{Tokens: c.tokens})
	options := module.Options{MaxIters: c.steps, Logger: slog.New(slog.NewTextHandler(c.stderr, nil))}
	if !c.quiet {
		options.OnEvent, ctx = show.Progress(c.stderr), module.Observe(ctx, c.status.Observe)
	}
	bot, err := agent.New(model, &agent.Options{
		Sandbox: box, Tools: set.With(c.approval()...), Programs: c.programs, Module: options,
	})
	if err != nil {
		return nil, err
	}
	if c.chat {
		return nil, c.converse(ctx, bot)
	}
	c.in.Task = c.task
	return c.turn(ctx, bot)
}

// introduce prints the connected servers, and the errors for servers that could not be connected. Warnings are in the
// agent's log.
func (c *config) introduce(servers *mcptools.Servers) {
	for _, s := range servers.Status() {
		switch {
		case s.Err != nil:
			fmt.Fprintf(c.stderr, "server %s is not available: %v\n", s.Name, s.Err)
		case !c.quiet:
			fmt.Fprintf(c.stderr, "server %s: %d tools (MCP %s)\n", s.Name, s.Tools, s.ProtocolVersion)
		}
	}
}

// result is the output with -json.
type result struct {
	Success bool        `json:"success"`
	Answer  string      `json:"answer,omitempty"`
	Error   string      `json:"error,omitempty"`
	Steps   int         `json:"steps"`
	Usage   event.Usage `json:"usage"`
	Calls   []call      `json:"calls"`
}

type call struct {
	Tool  string          `json:"tool"`
	Args  json.RawMessage `json:"args"`
	State string          `json:"state"`
}

func (c *config) print(w io.Writer, pred *module.Prediction[agent.Answer], err error) {
	if !c.json {
		if err == nil {
			fmt.Fprintln(w, pred.Output.Answer)
		}
		return
	}
	r, t := result{Success: err == nil, Calls: []call{}}, pred.TrajectoryOf(err)
	if err == nil {
		r.Answer = pred.Output.Answer
	} else {
		r.Error = err.Error()
	}
	r.Steps, r.Usage = len(t.Steps), t.Usage()
	for _, e := range t.Calls {
		r.Calls = append(r.Calls, call{e.Tool, e.Args, string(e.State)})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		fmt.Fprintln(c.stderr, "agent:", err)
	}
}
