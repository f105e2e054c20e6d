package report_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

type mail struct {
	To string `json:"to"`
}

// The report of a durable run says that it is paused, that it was resumed, and who approved its calls, also before it
// was resumed.
func TestPaused(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), tools.Func("send", "Sends a mail.",
		func(_ context.Context, m mail) (string, error) { return "sent to " + m.To, nil }, nil))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	model := llmtest.New("```js\nconst all = [];\nfor (const to of ['ann', 'bob', 'eve']) {\n" +
		"  try { all.push(await send({to})) } catch (e) {}\n}\nsubmit({answer: all.join()})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set.With(policy.Approve(nil))})
	if err != nil {
		t.Fatal(err)
	}
	runs := agent.NewRuns(journal.NewMemory())
	pred, err := agent.Start(t.Context(), runs, "r-1", bot, agent.Task{Task: "Write."})
	for _, d := range []policy.Decision{
		{Approved: true, By: "ann"}, {By: "ben"}, {Approved: true, By: "ann", Args: json.RawMessage(`{"to": "adam"}`)},
	} {
		paused, ok := errors.AsType[*agent.PausedError](err)
		if !ok {
			t.Fatalf("the run is not paused: %v, %v", pred, err)
		}
		raw, err2 := json.Marshal(pred.TrajectoryOf(err))
		var read module.Trajectory
		if err2 := errors.Join(err2, json.Unmarshal(raw, &read)); err2 != nil {
			t.Fatal(err2)
		}
		for _, run := range []module.Trajectory{pred.TrajectoryOf(err), read} {
			expect(t, render(t, run, nil), `<span class="mark warn">paused</span>`, `<span class="mark warn">not finished</span>`)
		}
		w := paused.Checkpoint.Waiting[0]
		pred, err = agent.Resume(t.Context(), runs, bot, paused.Checkpoint,
			map[string]agent.Decision{w.ID: {Decision: d}})
	}
	html := render(t, pred.TrajectoryOf(err), nil)
	expect(t, html, "resumed 3 times", "refused by ben")
	if n := strings.Count(html, "approved by ann"); err != nil || n != 2 || strings.Contains(html, ">paused<") {
		t.Errorf("%v: %d calls are marked as approved", err, n)
	}
}
