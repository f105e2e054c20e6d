package temporal

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// recordedHistory is the history of a workflow on a server, with an approval and a worker that was stopped.
const recordedHistory = "testdata/history.json"

// TestReplayHistory replays a recorded history: workflows that are in progress go on with this version.
func TestReplayHistory(t *testing.T) {
	t.Parallel()
	a, _ := newAgent(t, (&shop{}).set(t), Options{})
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflowWithOptions(a.workflow, workflow.RegisterOptions{Name: "bot"})
	quiet := log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	if err := r.ReplayWorkflowHistoryFromJSONFile(quiet, recordedHistory); err != nil {
		t.Error(err)
	}
}

// TestServer runs an agent on a real server: WRIT_TEMPORAL has its address and namespace. It records the history for
// TestReplayHistory if WRIT_TEMPORAL_RECORD is set.
func TestServer(t *testing.T) {
	address := strings.Fields(os.Getenv("WRIT_TEMPORAL"))
	if len(address) != 2 {
		t.Skip("WRIT_TEMPORAL is not set")
	}
	c, err := client.Dial(client.Options{HostPort: address[0], Namespace: address[1], Identity: "worker",
		Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, folder := &shop{}, t.TempDir()
	work := func() (a *Agent, stop func()) {
		dir, err := journal.OpenDir(filepath.Join(folder, "runs"))
		if err != nil {
			t.Fatal(err)
		}
		objects, err := OpenDir(filepath.Join(folder, "objects"))
		if err != nil {
			t.Fatal(err)
		}
		a, _ = newAgent(t, s.set(t), Options{Store: dir, Objects: objects, Version: folder},
			`for (const of of ["a", "b"]) await Promise.all([buy({of}), look({of: "x".repeat(100000)})]);
await pay({of: "c"});
submit({answer: String(await buy({of: "d"}))})`)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- a.Worker(ctx, c, worker.Options{}) }()
		return a, func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	a, stopA := work()
	id := fmt.Sprint("bot-", time.Now().UnixNano())
	run, err := a.Start(t.Context(), c, id, agent.Task{Task: "Buy things."})
	if err != nil {
		t.Fatal(err)
	}
	var calls []agent.Waiting
	for len(calls) == 0 {
		time.Sleep(100 * time.Millisecond)
		if calls, err = a.Waiting(t.Context(), c, id); err != nil {
			t.Fatal(err)
		}
	}
	_, stopB := work()
	stopA()
	for range 2 { // the second one has the same ID
		if err := a.Decide(t.Context(), c, id, "u-1", Answer{Call: calls[0].ID, Decision: approved()}); err != nil {
			t.Fatal(err)
		}
	}
	var out agent.Answer
	if err := a.Result(t.Context(), run, &out); err != nil || out.Answer != "6" {
		t.Errorf("got %v, %v", out, err)
	}
	stopB()
	for name, times := range map[string]int{"buy:": 3, "pay:": 1, "look:": 2} {
		if got := strings.Count(s.String(), name); got != times {
			t.Errorf("%s was called %d times", name, got)
		}
	}
	all := &history.History{}
	events := c.GetWorkflowHistory(t.Context(), id, run.GetRunID(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		all.Events = append(all.Events, e)
	}
	t.Logf("the history has %d events", len(all.Events))
	if os.Getenv("WRIT_TEMPORAL_RECORD") != "" {
		text, err := temporalproto.CustomJSONMarshalOptions{Indent: "  "}.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		host, _ := os.Hostname()
		text = bytes.ReplaceAll(text, []byte(host+":"), []byte("worker:"))
		if err := os.WriteFile(recordedHistory, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
