package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/temporal"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/sdk/worker"
)

// solver returns an agent without tools, which adds numbers.
func (c config) solver() (*temporal.Agent, error) {
	box, err := sandbox.New(nil)
	if err != nil {
		return nil, err
	}
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "```js\n" +
			"submit({answer: String(task.match(/\\d+/g).reduce((a, b) => a + Number(b), 0))})\n```"}, nil
	})
	bot, err := agent.New(model, &agent.Options{Sandbox: box})
	if err != nil {
		return nil, err
	}
	store, err := journal.OpenDir(filepath.Join(c.Dir, "journals"))
	if err != nil {
		return nil, err
	}
	objects, err := temporal.OpenDir(filepath.Join(c.Dir, "objects"))
	if err != nil {
		return nil, err
	}
	return temporal.New("solver", bot, &temporal.Options{Store: store, Objects: objects, Heartbeat: 5 * time.Second})
}

// solve runs a worker of the solver.
func solve(text string) error {
	var c config
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	bot, err := c.solver()
	if err != nil {
		return err
	}
	conn, err := c.dial()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { ready("ready"); stop() }()
	return bot.Worker(ctx, conn, worker.Options{})
}

// TestEvaluation evaluates an agent on four workers, one of which is killed.
func TestEvaluation(t *testing.T) {
	runs(t)
	const n = 1000
	l := &lab{t: t}
	l.Dir = t.TempDir()
	t.Cleanup(l.stop)
	must(t, l.startTemporal())
	for range 4 {
		p, _, err := role("solver", l.config)
		must(t, err)
		l.workers = append(l.workers, p)
	}
	clerk, err := l.solver()
	must(t, err)
	conn, err := l.dial()
	must(t, err)
	t.Cleanup(conn.Close)
	all := make([]evaluate.Example[agent.Task, agent.Answer], n)
	for i := range all {
		all[i].ID, all[i].In.Task = fmt.Sprint(i), fmt.Sprintf("Add %d and %d.", i, 2*i)
		all[i].Want.Answer = fmt.Sprint(3 * i)
	}
	began := time.Now()
	killed := time.AfterFunc(5*time.Second, func() { l.workers[0].kill() })
	there := temporal.Module[agent.Task, agent.Answer](clerk, conn, "evaluation-")
	report, err := evaluate.Evaluate(t.Context(), there, all, evaluate.ExactMatch[agent.Task, agent.Answer](),
		&evaluate.Options{Workers: 32})
	took := time.Since(began)
	must(t, err)
	right := 0
	for _, r := range report.Results {
		if r.Score.Value == 1 {
			right++
		}
	}
	if killed.Stop() || right != n || len(report.Results) != n {
		t.Errorf("%d of %d examples are right; was a worker killed?", right, n)
	}
	t.Log("| examples | workers | killed | lost | seconds | examples a second |")
	t.Log("|---|---|---|---|---|---|")
	t.Logf("| %d | 4 | 1 | %d | %.0f | %.0f |", n, n-right, took.Seconds(), n/took.Seconds())
}
