package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

var update = flag.Bool("update", false, "rewrite the scripts of TestRunner")

// clerk is a program that does what its task says: "send ann bob" sends two letters, after a person's approval; "note
// x" and "hold x" need none, and hold waits until it is released; "many 5" makes five long notes; "fail" fails. A comma
// stands between what is done one after the other, and an ampersand between what is done at the same time.
const clerk = `const act = async part => {
  const [name, ...to] = part.split(" ");
  if (name == "fail") throw new Error("no");
  if (name == "many") for (let i = 0; i < Number(to[0]); i++) await note({to: i + "x".repeat(4000)});
  const one = {send, hold, note}[name] ?? (async () => "many");
  const all = await Promise.allSettled(to.map(to => one({to})));
  return all.map(r => r.value ?? r.reason.message).join();
};
const chain = async parts => {
  const out = [];
  for (const part of parts.split(", ")) out.push(await act(part));
  return out.join();
};
const all = await Promise.all(task.split(" & ").map(chain));
submit({answer: all.join()})`

// bureau is a store with a Runner of clerks.
type bureau struct {
	office
	store   journal.Store
	queue   *queue.Queue
	runs    *agent.Runs
	runner  *agent.Runner
	make    func() *agent.Runner
	calls   map[string]string // the IDs of waiting calls, by run and argument
	holding chan string       // what hold has begun to wait for
	release map[string]chan struct{}
}

func newBureau(t testing.TB, box module.Sandbox, store journal.Store) *bureau {
	b := &bureau{store: store, queue: queue.New(&queue.Options{Running: 2}), calls: map[string]string{},
		holding: make(chan string, 100), release: map[string]chan struct{}{}}
	for _, name := range []string{"x", "y", "z"} {
		b.release[name] = make(chan struct{})
	}
	act := func(name string, f func(ctx context.Context, to string) error) *tools.Tool {
		return tools.Func(name, "Do it.", func(ctx context.Context, m mail) (string, error) {
			if err := f(ctx, m.To); err != nil {
				return "", err
			}
			b.did(name + ":" + m.To)
			return m.To, nil
		}, &tools.Hints{Class: tools.Effect, Destructive: name == "send"})
	}
	at := func(context.Context, string) error { return nil }
	set, err := tools.NewSet(t.Context(), act("send", at), act("note", at), act("hold", b.hold))
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	b.make = func() *agent.Runner {
		m := module.NewProgram(sig, module.Script{Code: clerk}, box, set, nil)
		b.runs = agent.NewRuns(store)
		r, err := agent.NewRunner(b.runs, m, &agent.RunnerOptions{Queue: b.queue,
			Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	b.runner = b.make()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := b.runner.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bureau) hold(ctx context.Context, what string) error {
	b.holding <- what
	select {
	case <-b.release[what]:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func input(text string) json.RawMessage {
	raw, _ := json.Marshal(agent.Task{Task: text})
	return raw
}

// show describes a run, and remembers the calls for which it waits.
func (b *bureau) show(info agent.RunInfo, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var out agent.Answer
	_ = json.Unmarshal(info.Output, &out)
	text := fmt.Sprintf("%s %s %s", info.ID, info.Principal, info.State)
	for _, w := range info.Waiting {
		var m mail
		_ = json.Unmarshal(w.Args, &m)
		text += fmt.Sprintf(", waits for %s:%s", w.Tool, m.To)
		if w.Unknown {
			text += " (unknown)"
		}
		b.calls[info.ID+" "+m.To] = w.ID
	}
	if out.Answer != "" {
		text += ", answer " + out.Answer
	}
	if ended := !info.Ended.IsZero(); ended != slices.Contains([]agent.RunState{agent.Done, agent.Failed,
		agent.Cancelled, agent.RolledBack}, info.State) ||
		info.Began.IsZero() {
		text += fmt.Sprintf(", with the times %v and %v", info.Began, info.Ended)
	}
	return text
}

// do carries out a command of a script, and returns its output.
func (b *bureau) do(ctx context.Context, line string) string {
	f := append(strings.Fields(line), "", "", "", "")
	result := func(err error) string {
		if err == nil {
			return "ok"
		}
		for id, at := range b.calls {
			err = errors.New(strings.ReplaceAll(err.Error(), at, "CALL("+id+")"))
		}
		return "error: " + err.Error()
	}
	switch f[0] {
	case "start": // start ID PRINCIPAL TASK
		_, _, what := cut3(line)
		info, err := b.runner.Start(ctx, agent.RunRequest{ID: f[1], Principal: f[2], Input: input(what)})
		if err != nil {
			return result(err)
		}
		return b.show(info, err)
	case "raw": // raw ID INPUT
		_, err := b.runner.Start(ctx, agent.RunRequest{ID: f[1], Input: json.RawMessage(strings.Join(f[2:], " "))})
		return result(err)
	case "get":
		return b.show(b.runner.Get(ctx, f[1]))
	case "wait":
		return b.show(b.runner.Wait(ctx, f[1]))
	case "list":
		list, err := b.runner.List(ctx)
		var lines []string
		for _, info := range list {
			lines = append(lines, b.show(info, err))
		}
		return strings.Join(append(lines, result(err)), "\n")
	case "decide": // decide ID TO yes|no ROUND
		d := agent.Decision{Decision: policy.Decision{Approved: f[3] == "yes", By: f[5]}}
		d.Round, _ = strconv.Atoi(f[4])
		return result(b.runner.Decide(ctx, f[1], b.calls[f[1]+" "+f[2]], d))
	case "outcome": // outcome ID TO ok|rejected ROUND
		known := json.RawMessage(`"known"`)
		d := agent.Decision{Outcome: &journal.Reconciled{State: journal.State(f[3]), Result: known}}
		if d.Round, _ = strconv.Atoi(f[4]); f[3] != "ok" {
			d.Outcome.Result = nil
		}
		return result(b.runner.Decide(ctx, f[1], b.calls[f[1]+" "+f[2]], d))
	case "cancel":
		return result(b.runner.Cancel(ctx, f[1]))
	case "resume":
		return result(b.runner.Resume(ctx, f[1]))
	case "recover":
		return result(b.runner.Recover(ctx))
	case "shutdown": // shutdown now, or in time
		if f[1] == "now" {
			var cancel func()
			ctx, cancel = context.WithCancel(ctx)
			cancel()
		}
		return result(b.runner.Shutdown(ctx))
	case "restart": // in a new process
		b.runner = b.make()
		return "ok"
	case "holding":
		n, _ := strconv.Atoi(f[1])
		var all []string
		for range max(1, n) {
			all = append(all, <-b.holding)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	case "pause":
		return fmt.Sprint(b.runs.Pause(f[1]))
	case "release":
		close(b.release[f[1]])
		return "ok"
	case "sent":
		return "sent: " + b.String()
	case "events": // events ID AFTER
		var types []string
		for e, err := range b.runner.Events(ctx, f[1], f[2]) {
			if err != nil {
				return result(err)
			}
			types = append(types, e.Type)
		}
		return strings.Join(slices.Compact(types), " ")
	}
	return "unknown command"
}

// cut3 returns what follows the third word.
func cut3(line string) (first, second, rest string) {
	f := strings.SplitN(line, " ", 4)
	f = append(f, "", "", "", "")
	return f[0], f[1], f[3]
}

// TestRunner runs the scripts in testdata/runner: lines that begin with "> " are commands, and the lines that follow
// are what they return. The flag -update rewrites them.
func TestRunner(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/runner/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir, err := journal.OpenDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			b := newBureau(t, open(t), dir)
			var got bytes.Buffer
			for line := range strings.Lines(string(script)) {
				switch command, ok := strings.CutPrefix(line, "> "); {
				case ok:
					fmt.Fprintf(&got, "%s%s\n", line, b.do(ctx, strings.TrimSpace(command)))
				case strings.HasPrefix(line, "#") || line == "\n":
					got.WriteString(line)
				}
			}
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if got.String() != string(script) {
				t.Errorf("got\n%s", &got)
			}
		})
	}
}
