// Example runs an agent on Temporal, and kills one of its workers in the middle of a program:
//
//	go run -C agent/temporal ./example
//
// It starts a Temporal server for development, a tool server and two workers, each in a process of its own. The program
// ships 20 orders and refunds one of them, for which it needs an approval. At the end, the tool server's own log shows
// what happened. The model is scripted; its program really runs. The first start builds the Temporal server, which
// takes some minutes.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/temporal"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
	"go.temporal.io/sdk/client"
	"golang.org/x/term"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	var c config
	yes := flag.Bool("yes", false, "approve the refund without asking; also if there is no terminal")
	flag.BoolVar(&c.honors, "honors", true, "the tool server makes no effect twice that has the same ID")
	flag.StringVar(&c.server, "server", "", "`address` of a Temporal server; without it, one is built and started")
	flag.StringVar(&c.namespace, "namespace", "default", "of -server")
	role := flag.String("role", "", "used by the example itself: tools or worker")
	flag.StringVar(&c.dir, "dir", "", "used by the example itself")
	flag.StringVar(&c.tools, "tools", "", "used by the example itself")
	pause := flag.Duration("pause", 200*time.Millisecond, "how long the tool server takes for a call")
	flag.Parse()
	switch *role {
	case "tools":
		return runToolServer(c.log(), c.honors, *pause)
	case "worker":
		return c.runWorker()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "temporal-example-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := &world{config: c}
	w.dir = dir
	defer w.stop()
	if err := w.start(*pause); err != nil {
		return err
	}
	approve := func(agent.Waiting) bool { return true }
	if !*yes && term.IsTerminal(int(os.Stdin.Fd())) {
		approve = ask
	}
	return w.story(ctx, approve)
}

// world is all processes of the example.
type world struct {
	config
	servers []*process
	workers []*process
}

func (c config) log() string { return filepath.Join(c.dir, "effects.jsonl") }

// start starts the servers.
func (w *world) start(pause time.Duration) error {
	if w.server == "" {
		fmt.Println("Building the Temporal server; the first time, this takes some minutes.")
		if err := w.startTemporal(); err != nil {
			return err
		}
	}
	p, url, err := role("tools", "-dir", w.dir, fmt.Sprint("-honors=", w.honors), "-pause", pause.String())
	if err != nil {
		return err
	}
	w.tools, w.servers = url, append(w.servers, p)
	fmt.Printf("Temporal at %s, the tool server at %s\n", w.server, w.tools)
	return nil
}

// startTemporal builds and starts a Temporal server. Its module is next to this package's.
func (w *world) startTemporal() error {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/writ-go/writ/agent/temporal").Output()
	if err != nil {
		return fmt.Errorf("run the example in the folder agent/temporal: %w", err)
	}
	file := filepath.Join(w.dir, "devserver")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Dir = filepath.Join(strings.TrimSpace(string(folder)), "internal", "devserver")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("the Temporal server cannot be built: %w", err)
	}
	p, line, err := start(file)
	if err != nil {
		return err
	}
	w.servers = append(w.servers, p)
	_, err = fmt.Sscan(line, &w.server, &w.namespace)
	return err
}

// work starts a worker.
func (w *world) work() error {
	p, _, err := role("worker", "-dir", w.dir, fmt.Sprint("-honors=", w.honors), "-server", w.server,
		"-namespace", w.namespace, "-tools", w.tools)
	if err != nil {
		return err
	}
	w.workers = append(w.workers, p)
	fmt.Printf("worker %d runs\n", p.Process.Pid)
	return nil
}

func (w *world) stop() {
	for _, p := range append(w.workers, w.servers...) {
		p.kill()
	}
}

// story runs the agent, kills a worker, and shows what happened.
func (w *world) story(ctx context.Context, approve func(agent.Waiting) bool) error {
	for range 2 {
		if err := w.work(); err != nil {
			return err
		}
	}
	temporal, err := w.dial()
	if err != nil {
		return err
	}
	defer temporal.Close()
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	bot, err := w.define(box, "")
	if err != nil {
		return err
	}
	task := agent.Task{Task: "Ship the 20 orders of c-1, and refund order 7."}
	fmt.Println("task:", task.Task)
	run, err := bot.Start(ctx, temporal, "orders-of-c-1", task)
	if err != nil {
		return err
	}
	if err := w.killOne(ctx); err != nil {
		return err
	}
	done := make(chan error, 1)
	var answer agent.Answer
	go func() { done <- bot.Result(ctx, run, &answer) }()
	for {
		select {
		case err := <-done:
			if err == nil {
				fmt.Println("answer:", answer.Answer)
				err = w.report()
			}
			return err
		case <-time.After(time.Second):
			if err := w.decide(ctx, bot, temporal, run.GetID(), approve); err != nil {
				return err
			}
		}
	}
}

// killOne kills the worker that makes effects, after some of them.
func (w *world) killOne(ctx context.Context) error {
	for ctx.Err() == nil {
		all, err := rows(w.log())
		if err != nil {
			return err
		}
		if len(all) < 9 {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		for i, p := range w.workers {
			if last := all[len(all)-1].Worker; last == fmt.Sprintf("worker %d", p.Process.Pid) {
				fmt.Printf("%s is killed, after %d effects\n", last, len(all))
				p.kill()
				w.workers = append(w.workers[:i], w.workers[i+1:]...)
				return nil
			}
		}
	}
	return ctx.Err()
}

// decide answers the calls that wait.
func (w *world) decide(ctx context.Context, bot *temporal.Agent, c client.Client, run string,
	approve func(agent.Waiting) bool) error {
	waiting, err := bot.Waiting(ctx, c, run)
	if err != nil {
		return nil // no worker answers now
	}
	for _, call := range waiting {
		d := agent.Decision{}
		if call.Unknown {
			d.Outcome, err = w.lookUp(call)
		} else {
			fmt.Println("waits for approval:", call)
			d.Decision = policy.Decision{Approved: approve(call), By: "ann", Reason: "not approved"}
		}
		if err == nil {
			err = bot.Decide(ctx, c, run, "decision-"+call.ID, temporal.Answer{Call: call.ID, Decision: d})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lookUp does what a person does about a call whose outcome is unknown: it looks at the server.
func (w *world) lookUp(call agent.Waiting) (*journal.Reconciled, error) {
	all, err := rows(w.log())
	for _, r := range all {
		if r.Effect == call.ID {
			fmt.Printf("unknown: %s; the tool server has done it\n", call)
			return &journal.Reconciled{State: journal.StateOK, Result: []byte(`"ok"`)}, nil
		}
	}
	fmt.Printf("unknown: %s; the tool server has not done it\n", call)
	return &journal.Reconciled{State: journal.StateRejected}, err
}

func (w *world) report() error {
	all, err := rows(w.log())
	if err != nil {
		return err
	}
	fmt.Println("the tool server's log:")
	for _, r := range all {
		fmt.Println("   ", r)
	}
	effects, repeated, again := count(all)
	fmt.Printf("%d effects, %d of them repeated; %d requests asked for an effect again\n", effects, repeated, again)
	if repeated > 0 || effects != 21 {
		return errors.New("an effect was lost or repeated")
	}
	return nil
}

// ask asks at the terminal.
func ask(agent.Waiting) bool {
	fmt.Print("approve? [y/n] ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	return err == nil && strings.HasPrefix(strings.ToLower(line), "y") || errors.Is(err, io.EOF)
}
