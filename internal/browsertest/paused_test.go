package browsertest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/report"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// A durable run is paused twice. Its reports say so, and the last one has the approvals from before.
func TestPausedReports(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), tools.Func("refund", "Refunds an amount.",
		func(context.Context, amount) (string, error) { return "refunded", nil }, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	model := llmtest.New("```js\nawait refund({ amount: 59.9 });\nawait refund({ amount: 10.1 });\n" +
		"submit({ answer: \"Both are refunded.\" })\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set.With(policy.Approve(nil))})
	if err != nil {
		t.Fatal(err)
	}
	runs, in := agent.NewRuns(journal.NewMemory()), agent.Task{Task: "Refund both orders."}
	b := launch(t)
	b.screen(1200, 900, "light")
	pred, err := agent.Start(t.Context(), runs, "r-1", bot, in)
	for _, want := range []string{"paused", "resumed 1 time", "resumed 2 times"} {
		var html bytes.Buffer
		if err := report.Write(&html, pred.TrajectoryOf(err), &report.Options{Inputs: in}); err != nil {
			t.Fatal(err)
		}
		b.open(write(t, html.String()))
		if text := eval[string](b, `document.querySelector("h1").innerText`); !strings.Contains(text, want) {
			t.Errorf("the heading is %q, want %s", text, want)
		}
		b.screenshot("report-" + strings.ReplaceAll(want, " ", "-"))
		if p, ok := errors.AsType[*agent.PausedError](err); ok {
			yes := agent.Decision{Decision: policy.Decision{Approved: true, By: "ann"}}
			pred, err = agent.Resume(t.Context(), runs, bot, p.Checkpoint,
				map[string]agent.Decision{p.Checkpoint.Waiting[0].ID: yes})
		}
	}
	if n := eval[int](b, `document.body.innerText.split("approved by ann").length - 1`); err != nil || n != 2 {
		t.Errorf("%v: %d approvals are shown", err, n)
	}
	b.screen(390, 844, "dark")
	b.screenshot("report-resumed-phone")
	b.narrow()
}
