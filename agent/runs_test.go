package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// office has tools whose calls need approval, and records what they did.
type office struct {
	mu   sync.Mutex
	done []string
}

func (o *office) did(what string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = append(o.done, what)
	return len(o.done)
}

func (o *office) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(o.done)), " ")
}

type mail struct {
	To string `json:"to"`
}

// tools returns send, which needs approval, note, which does not, and other tools.
func (o *office) tools(t *testing.T, more ...tools.Source) *tools.Set {
	t.Helper()
	act := func(name string) *tools.Tool {
		return tools.Func(name, "Do it.", func(_ context.Context, m mail) (int, error) {
			return o.did(name + ":" + m.To), nil
		}, &tools.Hints{Class: tools.Effect, Destructive: name == "send"})
	}
	set, err := tools.NewSet(t.Context(), append(more, act("send"), act("note"))...)
	if err != nil {
		t.Fatal(err)
	}
	return set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
}

// bot returns an agent that writes the programs in order, with a model that counts its requests.
func (o *office) bot(t *testing.T, programs ...string) (*agent.Agent, *llmtest.Model) {
	t.Helper()
	for i, p := range programs {
		programs[i] = "```js\n" + p + "\n```"
	}
	model := llmtest.New(programs...)
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Tools: o.tools(t)})
	if err != nil {
		t.Fatal(err)
	}
	return bot, model
}

var task = agent.Task{Task: "Write to ann."}

// paused returns the checkpoint of a paused run.
func paused(t *testing.T, err error) agent.Checkpoint {
	t.Helper()
	p, ok := errors.AsType[*agent.PausedError](err)
	if !ok {
		t.Fatalf("the run is not paused: %v", err)
	}
	text, err := json.Marshal(p.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	var c agent.Checkpoint
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func approved() agent.Decision { return agent.Decision{Decision: policy.Decision{Approved: true}} }

const sendTwo = `await note({to: "x"});
const r = await Promise.allSettled([send({to: "ann"}), send({to: "bob"})]);
submit({answer: r.map(x => x.value ?? x.reason.message).join()})`

// The decisions of a person reach the program in another process.
func TestResumeWithDecisions(t *testing.T) {
	t.Parallel()
	edited := approved()
	edited.Args = json.RawMessage(`{"to":"eve"}`)
	refused := agent.Decision{Decision: policy.Decision{Reason: "she is on leave"}}
	for name, test := range map[string]struct {
		ann          agent.Decision
		done, answer string
	}{
		"approved": {approved(), "note:x send:ann send:bob", ""},
		"edited":   {edited, "note:x send:bob send:eve", ""},
		"refused":  {refused, "note:x send:bob", "she is on leave"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, store := &office{}, journal.NewMemory()
			bot, _ := o.bot(t, sendTwo)
			_, err := agent.Start(t.Context(), agent.NewRuns(store), "r-1", bot, task)
			at := paused(t, err)
			if got := o.String(); got != "note:x" || len(at.Waiting) != 2 {
				t.Fatalf("the tools did %s, and %d calls wait", got, len(at.Waiting))
			}
			decisions := map[string]agent.Decision{}
			for _, w := range at.Waiting {
				if decisions[w.ID] = approved(); strings.Contains(string(w.Args), "ann") {
					decisions[w.ID] = test.ann
				}
			}
			again, model := o.bot(t) // which asks for nothing
			pred, err := agent.Resume(t.Context(), agent.NewRuns(store), again, at, decisions)
			if err != nil {
				t.Fatal(err)
			}
			if got := o.String(); got != test.done || !strings.Contains(pred.Output.Answer, test.answer) {
				t.Errorf("the tools did %s; the answer is %s", got, pred.Output.Answer)
			}
			if n := len(model.Requests()); n > 0 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

// Calls without a decision go on waiting.
func TestResumeDecidesSomeCalls(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	bot, _ := o.bot(t, sendTwo)
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	first := paused(t, err)
	_, err = agent.Resume(t.Context(), runs, bot, first, map[string]agent.Decision{first.Waiting[0].ID: approved()})
	second := paused(t, err)
	if got := o.String(); len(second.Waiting) != 1 || !strings.HasPrefix(got, "note:x send:") {
		t.Fatalf("the tools did %s, and %v wait", got, second.Waiting)
	}
	_, err = agent.Resume(t.Context(), runs, bot, second, map[string]agent.Decision{second.Waiting[0].ID: approved()})
	if got := o.String(); err != nil || got != "note:x send:ann send:bob" {
		t.Errorf("the tools did %s, and the error is %v", got, err)
	}
}

// A checkpoint and its decisions apply once, and only to the calls that wait.
func TestResumeRejects(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	bot, _ := o.bot(t, `submit({answer: String(await send({to: "ann"}))})`)
	if _, err := agent.Resume(t.Context(), runs, bot, agent.Checkpoint{Run: "r-0"}, nil); !errors.Is(err, agent.ErrNoRun) {
		t.Errorf("a run that does not exist: %v", err)
	}
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	for want, decisions := range map[string]map[string]agent.Decision{
		"has no call r-1/x:E9": {"r-1/x:E9": approved()},
		"set Outcome if and only if": {at.Waiting[0].ID: {
			Outcome: &journal.Reconciled{State: journal.StateOK}}},
	} {
		if _, err := agent.Resume(t.Context(), runs, bot, at, decisions); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := agent.Start(t.Context(), runs, "r-1", bot, task); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("the run was started twice: %v", err)
	}
	decisions := map[string]agent.Decision{at.Waiting[0].ID: approved()}
	if _, err := agent.Resume(t.Context(), runs, bot, at, decisions); err != nil {
		t.Fatal(err)
	}
	pred, err := agent.Resume(t.Context(), runs, bot, at, decisions) // an answer is returned again
	if got := o.String(); err != nil || pred.Output.Answer != "1" || got != "send:ann" {
		t.Errorf("the tools did %s; got %v, %v", got, pred, err)
	}
}

// An old checkpoint does not continue a run that has gone on.
func TestResumeAtOldCheckpoint(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	bot, _ := o.bot(t, sendTwo)
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	one := map[string]agent.Decision{at.Waiting[0].ID: approved()}
	_, err = agent.Resume(t.Context(), runs, bot, at, one)
	paused(t, err)
	if _, err := agent.Resume(t.Context(), runs, bot, at, one); err == nil || !strings.Contains(err.Error(), "gone on") {
		t.Errorf("got %v", err)
	}
}

// A run whose model fails can be resumed: what was done is not done again.
func TestResumeAfterFailure(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	bot, _ := o.bot(t, `await note({to: "ann"}); console.log("noted")`)
	if _, err := agent.Start(t.Context(), runs, "r-1", bot, task); err == nil {
		t.Fatal("the model has no second reply")
	}
	at, err := runs.Checkpoint(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	bot, model := o.bot(t, `submit({answer: "done"})`)
	pred, err := agent.Resume(t.Context(), runs, bot, at, nil)
	if got := o.String(); err != nil || pred.Output.Answer != "done" || got != "note:ann" || len(model.Requests()) != 1 {
		t.Errorf("the tools did %s; got %v, %v after %d requests", got, pred, err, len(model.Requests()))
	}
}

// Pause lets the calls in progress end, and starts no others.
func TestPause(t *testing.T) {
	t.Parallel()
	runs := agent.NewRuns(journal.NewMemory())
	o := &office{}
	pause := tools.Func("pause", "Pause.", func(context.Context, struct{}) (bool, error) {
		defer o.did("pause")
		return runs.Pause("r-1"), nil
	}, &tools.Hints{Class: tools.Effect})
	note := tools.Func("note", "Note.", func(_ context.Context, m mail) (int, error) { return o.did("note"), nil },
		&tools.Hints{Class: tools.Effect})
	set, err := tools.NewSet(t.Context(), pause, note)
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New("```js\nawait pause({}); submit({answer: String(await note({to: 'ann'}))})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	if got := o.String(); got != "pause" {
		t.Errorf("the tools did %s", got)
	}
	pred, err := agent.Resume(t.Context(), runs, bot, at, nil)
	if err != nil || pred.Output.Answer != "2" || o.String() != "note pause" {
		t.Errorf("got %v, %v; the tools did %s", pred, err, o)
	}
	if runs.Pause("r-1") {
		t.Error("a run that has ended was paused")
	}
}

// A ReAct, and an agent within an agent, pause the whole run.
func TestPauseOfOtherModules(t *testing.T) {
	t.Parallel()
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	o := &office{}
	inner, _ := o.bot(t, `submit({answer: "inner " + await send({to: "ann"})})`)
	helper := module.Tool("helper", "Does it.", inner, nil)
	set, err := tools.NewSet(t.Context(), helper)
	if err != nil {
		t.Fatal(err)
	}
	outer := module.NewCodeAct(sig, llmtest.New("```js\nsubmit(await helper({task: 'x'}))\n```"), open(t), set, nil)
	react := module.NewReAct(sig, llmtest.New(`{"tool": "send", "args": {"to": "bob"}}`,
		`{"tool": "submit", "args": {"answer": "sent"}}`), o.tools(t), nil)
	for name, test := range map[string]struct {
		module module.Module[agent.Task, agent.Answer]
		answer string
	}{"nested": {outer, "inner "}, "react": {react, "sent"}} {
		runs := agent.NewRuns(journal.NewMemory())
		before := o.String()
		_, err := agent.Start(t.Context(), runs, "r-1", test.module, task)
		at := paused(t, err)
		if len(at.Waiting) != 1 || o.String() != before {
			t.Fatalf("%s: %v wait, and the tools did %s", name, at.Waiting, o)
		}
		pred, err := agent.Resume(t.Context(), runs, test.module, at,
			map[string]agent.Decision{at.Waiting[0].ID: approved()})
		if err != nil || !strings.HasPrefix(pred.Output.Answer, test.answer) {
			t.Errorf("%s: got %v, %v", name, pred, err)
		}
	}
	if got := o.String(); got != "send:ann send:bob" {
		t.Errorf("the tools did %s", got)
	}
}

// List says how runs ended.
func TestList(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	for id, program := range map[string]string{
		"r-done": `submit({answer: "yes"})`, "r-failed": `console.log(1)`, "r-paused": `submit({answer: await send({to: "x"})})`,
	} {
		bot, _ := o.bot(t, program)
		_, _ = agent.Start(t.Context(), runs, id, bot, task)
	}
	list, err := runs.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range list {
		got[r.ID] = fmt.Sprintf("%s %s %d %t", r.State, r.Output, len(r.Waiting), r.Error != "")
	}
	for id, want := range map[string]string{
		"r-done": `done {"answer":"yes"} 0 false`, "r-failed": "failed  0 true", "r-paused": "paused  1 false",
	} {
		if got[id] != want {
			t.Errorf("%s: got %s, want %s", id, got[id], want)
		}
	}
}

// A grant approves later calls, also those of a later process, but not more than it says.
func TestGrants(t *testing.T) {
	t.Parallel()
	o, store := &office{}, journal.NewMemory()
	bot, _ := o.bot(t, `for (const to of ["ann", "bob", "cid", "dan"]) await send({to});
submit({answer: "sent"})`)
	_, err := agent.Start(t.Context(), agent.NewRuns(store), "r-1", bot, task)
	at := paused(t, err)
	granting := approved()
	granting.By = "eve"
	granting.Grant = &policy.Grant{Tool: "send", Calls: 1, Until: time.Now().Add(time.Hour)}
	for _, step := range []struct {
		decision agent.Decision
		done     string
	}{
		{granting, "send:ann send:bob"}, // bob by the grant
		{approved(), "send:ann send:bob send:cid"},
	} {
		_, err = agent.Resume(t.Context(), agent.NewRuns(store), bot, at,
			map[string]agent.Decision{at.Waiting[0].ID: step.decision})
		at = paused(t, err)
		if got := o.String(); got != step.done || len(at.Waiting) != 1 {
			t.Fatalf("the tools did %s, and %v wait", got, at.Waiting)
		}
	}
	granting.Grant = &policy.Grant{}
	if _, err := agent.Resume(t.Context(), agent.NewRuns(store), bot, at,
		map[string]agent.Decision{at.Waiting[0].ID: granting}); err == nil || !strings.Contains(err.Error(), "the decision on") {
		t.Errorf("an invalid grant: %v", err)
	}
}

// Rollback undoes what an agent and the agents within it did, the last effect first.
func TestRollback(t *testing.T) {
	t.Parallel()
	o := &office{}
	note := tools.Func("note", "Note.", func(_ context.Context, m mail) (int, error) { return o.did("note:" + m.To), nil },
		&tools.Hints{Class: tools.Effect})
	note.Revert = func(_ context.Context, args, _ json.RawMessage) error { o.did("undo:" + string(args)); return nil }
	final := tools.Func("final", "Final.", func(context.Context, mail) (int, error) { return o.did("final"), nil },
		&tools.Hints{Class: tools.Effect})
	set, err := tools.NewSet(t.Context(), note, final)
	if err != nil {
		t.Fatal(err)
	}
	newBot := func(set *tools.Set, program string) *agent.Agent {
		bot, err := agent.New(llmtest.New("```js\n"+program+"\n```"), &agent.Options{Sandbox: open(t), Tools: set})
		if err != nil {
			t.Fatal(err)
		}
		return bot
	}
	helper := module.Tool("helper", "Helps.", newBot(set, `submit({answer: String(await note({to: "b"}))})`), nil)
	all, err := tools.NewSet(t.Context(), note, final, helper)
	if err != nil {
		t.Fatal(err)
	}
	runs := agent.NewRuns(journal.NewMemory())
	bot := newBot(all, `await note({to: "a"}); await helper({task: "x"}); await final({to: "c"}); submit({answer: "done"})`)
	if _, err := agent.Start(t.Context(), runs, "r-1", bot, task); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, there is nothing to do
		report, err := runs.Rollback(t.Context(), "r-1", all)
		if err != nil || len(report.Undone) != 2 || len(report.Left) != 1 || report.Left[0].Entry.Tool != "final" {
			t.Errorf("got %+v, %v", report, err)
		}
	}
	if got, want := o.String(), `final note:a note:b undo:{"to":"a"} undo:{"to":"b"}`; got != want {
		t.Errorf("the tools did %s, not %s", got, want)
	}
	at, err := runs.Checkpoint(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Resume(t.Context(), runs, bot, at, nil); err == nil || !strings.Contains(err.Error(), "undone") {
		t.Errorf("the run was resumed: %v", err)
	}
}
