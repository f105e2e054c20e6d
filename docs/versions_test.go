package docs_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

var record = flag.Bool("record", false, "record the paused run in testdata/paused again, after a change of its format")

// TestFormat resumes a run that an earlier version of Writ paused. It fails if the format of logs or checkpoints
// changes.
func TestFormat(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	type order struct {
		Order int `json:"order"`
	}
	set, err := tools.NewSet(t.Context(), tools.Func("refund", "Refund an order.",
		func(context.Context, order) (bool, error) { return true, nil },
		&tools.Hints{Class: tools.Effect, Destructive: true}))
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
	model := llmtest.New("```js\nsubmit({answer: String(await refund({order: 7}))})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	const runs, file = "testdata/paused/runs", "testdata/paused/checkpoint.json"
	if *record {
		recordPaused(t, bot, runs, file)
	}
	var checkpoint agent.Checkpoint
	if text, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(text, &checkpoint); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(runs)); err != nil {
		t.Fatal(err)
	}
	store, err := journal.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	decisions := map[string]agent.Decision{}
	for _, call := range checkpoint.Waiting {
		decisions[call.ID] = agent.Decision{Decision: policy.Decision{Approved: true}}
	}
	pred, err := agent.Resume(t.Context(), agent.NewRuns(store), bot, checkpoint, decisions)
	if err != nil {
		t.Fatal(err)
	}
	if len(decisions) != 1 || pred.Output.Answer != "true" {
		t.Errorf("got %q after %d decisions", pred.Output.Answer, len(decisions))
	}
}

// TestNewerTrajectory reads a trajectory with fields of another version.
func TestNewerTrajectory(t *testing.T) {
	t.Parallel()
	var got module.Trajectory
	text := `{"module": "Predict", "novel": 1, "steps": [{"code": "submit({})", "novel": {}}], "error": "late"}`
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Module != "Predict" || len(got.Steps) != 1 || got.Steps[0].Code != "submit({})" || got.Err.Error() != "late" {
		t.Errorf("got %+v", got)
	}
}

func recordPaused(t *testing.T, bot *agent.Agent, runs, file string) {
	t.Helper()
	if err := os.RemoveAll(runs); err != nil {
		t.Fatal(err)
	}
	store, err := journal.OpenDir(runs)
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Start(t.Context(), agent.NewRuns(store), "r-1", bot, agent.Task{Task: "Refund order 7."})
	paused, ok := errors.AsType[*agent.PausedError](err)
	if !ok {
		t.Fatalf("the run is not paused: %v", err)
	}
	text, err := json.MarshalIndent(paused.Checkpoint, "", "\t")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
