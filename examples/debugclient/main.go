// Debugclient talks to an MCP server as a client would, and prints what it sees.
//
//	go run ./examples/debugclient -code '6 * 7' -- mcpserver -config mcp_servers.json
//	go run ./examples/debugclient -url http://127.0.0.1:8080/mcp -token … -task "How many files are there?"
//
// Without a program, task or tool it lists the tools. The answer goes to stdout, all
// else to stderr. The exit code is 0 if the call went well, 1 if it did not, 2 when
// the flags are wrong.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/examples/internal/show"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command is the program: arguments in, exit code out.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	stdout, stderr = show.Writer(stdout), show.Writer(stderr)
	r, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "debugclient:", err)
		return 2
	}
	ok, err := r.run(ctx, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "debugclient:", err)
	}
	if err != nil || !ok {
		return 1
	}
	return 0
}

// request is a call and the server to send it to.
type request struct {
	server  server
	tool    string // "" lists the tools
	args    map[string]any
	json    bool
	timeout time.Duration
}

func parse(args []string, stderr io.Writer) (r request, err error) {
	flags := flag.NewFlagSet("debugclient", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&r.server.url, "url", "", "address of the server, instead of a command")
	flags.StringVar(&r.server.token, "token", os.Getenv("WRIT_TOKEN"),
		"bearer token for -url (default: the value of WRIT_TOKEN)")
	flags.StringVar(&r.server.protocol, "protocol", "",
		"protocol `version` to request, such as 2025-11-25 (default: the newest that both support)")
	code := flags.String("code", "", "`program` to run")
	file := flags.String("file", "", "`file` with a program to run")
	task := flags.String("task", "", "`task` to do, in words")
	tool := flags.String("tool", "", "`name` of a tool to call, with -args")
	text := flags.String("args", "", "further arguments of the tool, as a `JSON` object")
	flags.DurationVar(&r.timeout, "timeout", 10*time.Minute, "time limit for everything")
	flags.BoolVar(&r.json, "json", false, "print the result as the server gave it")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: debugclient [flags] -- command [arguments]\n       debugclient [flags] -url URL")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return r, err
	}
	r.server.command = flags.Args()
	if (r.server.url == "") == (len(r.server.command) == 0) {
		return r, errors.New("give the command of a server after the flags, or -url")
	}
	if r.args, err = arguments(*text); err != nil {
		return r, err
	}
	return r, r.choose(*code, *file, *task, *tool)
}

func arguments(text string) (map[string]any, error) {
	args := map[string]any{}
	if err := json.Unmarshal([]byte(cmp.Or(text, "{}")), &args); err != nil || args == nil {
		return nil, fmt.Errorf("-args %s: not a JSON object (%v)", text, err)
	}
	return args, nil
}

// choose translates the flags into a call of a tool.
func (r *request) choose(code, file, task, tool string) error {
	wanted := 0
	for _, text := range []string{code, file, task, tool} {
		if text != "" {
			wanted++
		}
	}
	if wanted > 1 {
		return errors.New("-code, -file, -task and -tool exclude each other")
	}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		code = string(text)
	}
	switch {
	case code != "":
		r.tool, r.args["code"] = "execute_code", code
	case task != "":
		r.tool, r.args["task"] = "run_task", task
	default:
		r.tool = tool
	}
	return nil
}

// run connects, makes the call and prints its result. It reports whether the call succeeded.
func (r request) run(ctx context.Context, stdout, stderr io.Writer) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	began := time.Now()
	session, err := r.server.connect(ctx, stderr)
	if err != nil {
		return false, err
	}
	defer session.Close()
	about := session.InitializeResult()
	fmt.Fprintf(stderr, "connected to %s %s in %s (MCP %s)\n", about.ServerInfo.Name, about.ServerInfo.Version,
		short(time.Since(began)), about.ProtocolVersion)
	if r.tool == "" {
		return r.list(ctx, session, stdout)
	}
	began = time.Now()
	params := &mcp.CallToolParams{Name: r.tool, Arguments: r.args}
	params.SetProgressToken("debugclient")
	result, err := session.CallTool(ctx, params)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(stderr, "%s answered in %s\n", r.tool, short(time.Since(began)))
	return !result.IsError, r.show(stdout, result)
}
