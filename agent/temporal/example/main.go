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
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/temporal"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/sdk/client"
	"golang.org/x/term"
)

func main() {
	var c config
	flag.BoolVar(&c.Honors, "honors", true, "the tool server makes no effect twice that has the same ID")
	flag.StringVar(&c.Server, "server", "", "`address` of a Temporal server; without it, one is built and started")
	flag.StringVar(&c.Namespace, "namespace", "default", "of -server")
	yes := flag.Bool("yes", false, "approve the refund without asking; so it is, too, if there is no terminal")
	role := flag.String("role", "", "used by the example itself: tools or worker")
	flag.Func("config", "used by the example itself", func(text string) error {
		return json.Unmarshal([]byte(text), &c)
	})
	flag.Parse()
	switch *role {
	case "tools":
		check(runToolServer(c))
	case "worker":
		check(c.runWorker())
	default:
		var err error
		c.Dir, err = os.MkdirTemp("", "temporal-example-")
		check(err)
		defer func() { _ = os.RemoveAll(c.Dir) }()
		c.Pause = 200 * time.Millisecond
		w := &world{config: c, ask: !*yes && term.IsTerminal(int(os.Stdin.Fd()))}
		defer w.stop()
		check(w.start())
		w.story(context.Background())
	}
}

// check ends the example if there is an error. The processes that it has started end with it.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// config is what all processes of the example agree on.
type config struct {
	Server, Namespace string        // of Temporal
	Dir               string        // where the workers keep the journals and large values
	Tools             string        // the URL of the tool server
	Honors            bool          // the tool server makes no effect twice
	Pause             time.Duration // how long the tool server takes
	Events            int           // of a workflow before it continues as new; zero means 4096
}

func (c config) log() string { return filepath.Join(c.Dir, "effects.jsonl") }

// world is all processes of the example.
type world struct {
	config
	ask     bool // a person approves
	servers []*process
	workers []*process
}

// start starts the servers.
func (w *world) start() error {
	if w.Server == "" {
		fmt.Println("Building the Temporal server; the first time, this takes some minutes.")
		if err := w.startTemporal(); err != nil {
			return err
		}
	}
	p, url, err := role("tools", w.config)
	if err != nil {
		return err
	}
	w.Tools, w.servers = url, append(w.servers, p)
	fmt.Printf("Temporal at %s, the tool server at %s\n", w.Server, w.Tools)
	return nil
}

// startTemporal builds and starts a Temporal server. Its module is next to this package's.
func (w *world) startTemporal() error {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/writ-go/writ/agent/temporal").Output()
	if err != nil {
		return fmt.Errorf("run the example in the folder agent/temporal: %w", err)
	}
	build := exec.Command("go", "build", "-o", w.Dir, ".")
	build.Dir = filepath.Join(strings.TrimSpace(string(folder)), "internal", "devserver")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("the Temporal server cannot be built: %w", err)
	}
	p, line, err := start(filepath.Join(w.Dir, "devserver"), "-events", strconv.Itoa(cmp.Or(w.Events, 4096)))
	if err != nil {
		return err
	}
	_ = os.Remove(p.Path) // it is large, and this process may be interrupted
	w.servers = append(w.servers, p)
	_, err = fmt.Sscan(line, &w.Server, &w.Namespace)
	return err
}

// work starts a worker.
func (w *world) work() error {
	p, _, err := role("worker", w.config)
	if err == nil {
		w.workers = append(w.workers, p)
		fmt.Printf("worker %d runs\n", p.Process.Pid)
	}
	return err
}

func (w *world) stop() {
	for _, p := range append(w.workers, w.servers...) {
		p.kill()
	}
}

// story runs the agent, kills a worker, and shows what happened.
func (w *world) story(ctx context.Context) {
	check(w.work())
	check(w.work())
	conn, err := w.dial()
	check(err)
	defer conn.Close()
	box, err := sandbox.New(nil)
	check(err)
	defer box.Close()
	clerk, err := w.define(box, "")
	check(err)
	task := agent.Task{Task: "Ship the 20 orders of c-1, and refund order 7."}
	fmt.Println("task:", task.Task)
	run, err := clerk.Start(ctx, conn, "orders-of-c-1", task)
	check(err)
	for !w.killOne() {
		time.Sleep(20 * time.Millisecond)
	}
	done := make(chan agent.Answer)
	go func() {
		var answer agent.Answer
		check(clerk.Result(ctx, run, &answer))
		done <- answer
	}()
	for {
		select {
		case answer := <-done:
			fmt.Println("answer:", answer.Answer)
			w.report()
			return
		case <-time.After(time.Second):
			check(w.decide(ctx, clerk, conn, run.GetID()))
		}
	}
}

// killOne kills the worker that made the last effect, after some of them.
func (w *world) killOne() bool {
	all, err := rows(w.log())
	check(err)
	i := slices.IndexFunc(w.workers, func(p *process) bool {
		return len(all) > 8 && all[len(all)-1].Worker == fmt.Sprintf("worker %d", p.Process.Pid)
	})
	if i >= 0 {
		fmt.Printf("%s is killed, after %d effects\n", all[len(all)-1].Worker, len(all))
		w.workers[i].kill()
		w.workers = slices.Delete(w.workers, i, i+1)
	}
	return i >= 0
}

// decide answers the calls that wait.
func (w *world) decide(ctx context.Context, clerk *temporal.Agent, conn client.Client, id string) error {
	waiting, err := clerk.Waiting(ctx, conn, id)
	if err != nil {
		return nil // no worker answers now
	}
	for _, call := range waiting {
		d, answer := agent.Decision{}, "y"
		if call.Unknown {
			d.Outcome, err = w.lookUp(call)
		} else if fmt.Println("waits for approval:", call); w.ask {
			fmt.Print("approve? [y/n] ")
			_, _ = fmt.Scanln(&answer)
		}
		d.Approved, d.By = !call.Unknown && answer == "y", "ann"
		if err == nil { // the ID lets a client send the same answer again
			err = clerk.Decide(ctx, conn, id, rand.Text(), temporal.Answer{Call: call.ID, Decision: d})
		}
	}
	return err
}

// lookUp does what a person does about a call whose outcome is unknown: it looks at the server.
func (w *world) lookUp(call agent.Waiting) (*journal.Reconciled, error) {
	all, err := rows(w.log())
	if slices.ContainsFunc(all, func(r row) bool { return r.Effect == call.ID }) {
		fmt.Printf("unknown: %s; the tool server has done it\n", call)
		return &journal.Reconciled{State: journal.StateOK, Result: []byte(`"ok"`)}, nil
	}
	fmt.Printf("unknown: %s; the tool server has not done it\n", call)
	return &journal.Reconciled{State: journal.StateRejected}, err
}

func (w *world) report() {
	all, err := rows(w.log())
	check(err)
	fmt.Println("the tool server's log:")
	for _, r := range all {
		fmt.Println("   ", r)
	}
	effects, repeated, again := count(all)
	fmt.Printf("%d effects, %d of them repeated; %d requests asked for an effect again\n", effects, repeated, again)
	if repeated > 0 || effects < 20 {
		check(errors.New("an effect was lost or repeated"))
	}
}
