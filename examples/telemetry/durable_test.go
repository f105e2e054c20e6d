package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/telemetry"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// TestDurable pauses a run and resumes it.
func TestDurable(t *testing.T) {
	r := newReceiver(t)
	tracers, meters, shutdown := r.providers()
	observer, err := telemetry.New(&telemetry.Options{TracerProvider: tracers, MeterProvider: meters})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(t.Context(), tools.Func("send", "Sends.",
		func(context.Context, word) (word, error) { return word{"sent"}, nil }, nil))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	bot, err := agent.New(llmtest.New("```js\nsubmit((await send({word: 'a'})).word)\n```"),
		&agent.Options{Sandbox: box, Tools: set.With(policy.Approve(nil))})
	if err != nil {
		t.Fatal(err)
	}
	runs, ctx := agent.NewRuns(journal.NewMemory()), observer.Observe(t.Context())
	_, err = agent.Start(ctx, runs, "r-1", bot, agent.Task{Task: "Send."})
	paused, ok := errors.AsType[*agent.PausedError](err)
	if !ok {
		t.Fatalf("got %v, want a PausedError", err)
	}
	decisions := map[string]agent.Decision{paused.Checkpoint.Waiting[0].ID: {Decision: policy.Decision{Approved: true}}}
	pred, err := agent.Resume(ctx, runs, bot, paused.Checkpoint, decisions)
	if err != nil || pred.Output.Answer != "sent" {
		t.Fatalf("got %v, %v", pred, err)
	}
	shutdown()
	for want, n := range map[string]int{
		`invoke_agent Agent [internal] error("") error.type="paused"`: 1, "invoke_agent Agent [internal] gen_ai": 1,
		`execute_tool send [internal] error("") error.type="pending"`: 1, "execute_tool send [internal] gen_ai": 1,
	} {
		if got := strings.Count(r.tree(), want); got != n {
			t.Errorf("%q occurs %d times, want %d:\n%s", want, got, n, r.tree())
		}
	}
}

// TestStore has a store answer a request, which then does not count in the metrics.
func TestStore(t *testing.T) {
	r := newReceiver(t)
	tracers, meters, shutdown := r.providers()
	observer, err := telemetry.New(&telemetry.Options{TracerProvider: tracers, MeterProvider: meters})
	if err != nil {
		t.Fatal(err)
	}
	store, err := models.OpenStore(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	model := store.Model(llmtest.New("[[ ## n ## ]]\n2"), "small")
	one := module.NewPredict(signature.Must(signature.New[word, number]("Count.")), model, nil)
	for range 2 {
		if _, err := one.Run(observer.Observe(t.Context()), word{"a"}); err != nil {
			t.Fatal(err)
		}
	}
	shutdown()
	if n := strings.Count(r.tree(), "writ.cached=true"); n != 1 {
		t.Errorf("%d spans are from the store, want 1:\n%s", n, r.tree())
	}
	for _, want := range []string{
		`gen_ai.client.operation.duration s gen_ai.operation.name="chat" gen_ai.provider.name="_OTHER" ` +
			`gen_ai.response.model="scripted": 1 measured`,
		`gen_ai.provider.name="_OTHER" gen_ai.response.model="scripted" gen_ai.token.type="input": 1 measured`,
	} {
		if !strings.Contains(r.table(), want) {
			t.Errorf("%q is missing in\n%s", want, r.table())
		}
	}
}
