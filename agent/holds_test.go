package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// asking returns a Runs whose holds a person decides on.
func asking(store journal.Store) *agent.Runs {
	runs := agent.NewRuns(store)
	runs.AskHolds = true
	return runs
}

func repeat(r tools.Repeat) agent.Decision { return agent.Decision{Repeat: &r} }

const (
	noteThenFail = `await note({to: "ann"}); throw new Error("it failed")`
	noteAndSend  = `const a = await note({to: "Ann"}); const b = await send({to: "eve"}); submit({answer: a + "," + b})`
)

// A person says how a held call is meant. The run is asked once, also if it is repeated in other processes.
func TestAskHolds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name            string
		decision        tools.Repeat
		answer, effects string
		requests        int
	}{
		{"same", tools.Repeat{Same: "E1"}, "1,2", "note:ann send:eve", 2},
		{"distinct", tools.Repeat{Distinct: []string{"all"}}, "2,3", "note:Ann note:ann send:eve", 2},
		{"again", tools.Repeat{Again: []string{"E1"}}, "2,3", "note:Ann note:ann send:eve", 2},
		{"the model", tools.Repeat{}, "1,2", "note:ann send:eve", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o, store := &office{}, journal.NewMemory()
			third := strings.Replace(noteAndSend, `"Ann"}`, `"Ann"}, {same: "E1"}`, 1)
			bot, model := o.bot(t, noteThenFail, noteAndSend, third)
			_, err := agent.Start(t.Context(), asking(store), "r-1", bot, task)
			at := paused(t, err)
			if len(at.Waiting) != 1 || len(at.Waiting[0].Resembles) != 1 || len(model.Requests()) != 2 {
				t.Fatalf("%d requests; the run waits for %v", len(model.Requests()), at.Waiting)
			}
			w := at.Waiting[0]
			if w.Tool != "note" || w.Line != 1 || !strings.HasPrefix(w.Source, "const a") ||
				w.Resembles[0].ID != "E1" || !strings.Contains(w.String(), `resembles E1 note({"to":"ann"}) ok → 1`) {
				t.Errorf("the run waits for %s, %+v", w, w)
			}
			_, err = agent.Resume(t.Context(), asking(store), bot, at, nil) // nobody has decided
			at = paused(t, err)
			_, err = agent.Resume(t.Context(), asking(store), bot, at, map[string]agent.Decision{w.ID: repeat(test.decision)})
			at = paused(t, err)
			if len(at.Waiting) != 1 || at.Waiting[0].Tool != "send" {
				t.Fatalf("after the decision, the run waits for %v", at.Waiting)
			}
			_, err = agent.Resume(t.Context(), agent.NewRuns(store), bot, at, nil) // the answer is in the record
			at = paused(t, err)
			pred, err := agent.Resume(t.Context(), asking(store), bot, at,
				map[string]agent.Decision{at.Waiting[0].ID: approved()})
			if err != nil || pred.Output.Answer != test.answer || o.String() != test.effects {
				t.Errorf("got %v, %v; the tools did %s", pred, err, o)
			}
			if n := len(model.Requests()); n != test.requests {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

// A decision counts although the process that recorded it has ended before the call was made.
func TestHoldDecidedBeforeCrash(t *testing.T) {
	t.Parallel()
	o, store := &office{}, journal.NewMemory()
	bot, _ := o.bot(t, noteThenFail, noteAndSend)
	_, err := agent.Start(t.Context(), asking(store), "r-1", bot, task)
	at := paused(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	decisions := map[string]agent.Decision{at.Waiting[0].ID: repeat(tools.Repeat{Same: "E1"})}
	if _, err = agent.Resume(ended, asking(store), bot, at, decisions); err == nil {
		t.Fatal("the run has an answer")
	}
	runs := asking(store)
	at, err = runs.Checkpoint(t.Context(), "r-1")
	if err != nil || len(at.Waiting) != 0 {
		t.Fatalf("got %v, %v", at, err)
	}
	_, err = agent.Resume(t.Context(), runs, bot, at, nil)
	if at = paused(t, err); len(at.Waiting) != 1 || at.Waiting[0].Tool != "send" || o.String() != "note:ann" {
		t.Errorf("the run waits for %v; the tools did %s", at.Waiting, o)
	}
}

// By default, nobody is asked. An invalid decision is not recorded.
func TestHoldDecisionsAreChecked(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, asking(journal.NewMemory())
	bot, _ := o.bot(t, noteThenFail, noteAndSend)
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	for want, d := range map[string]agent.Decision{
		"set Repeat": approved(), "set Outcome": {Repeat: &tools.Repeat{}, Outcome: &journal.Reconciled{State: "ok"}},
		`"E9" is not`: repeat(tools.Repeat{Same: "E9"}),
	} {
		_, err := agent.Resume(t.Context(), runs, bot, at, map[string]agent.Decision{at.Waiting[0].ID: d})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	bot, model := o.bot(t, noteThenFail, noteAndSend, `submit({answer: "none"})`)
	pred, err := agent.Start(t.Context(), agent.NewRuns(journal.NewMemory()), "r-1", bot, task)
	if err != nil || pred.Output.Answer != "none" || len(model.Requests()) < 3 {
		t.Errorf("got %v, %v after %d requests", pred, err, len(model.Requests()))
	}
}

// A call may also resemble an earlier one because a call of another tool is between them. That one is no answer.
func TestHoldBecauseOfAnotherTool(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, asking(journal.NewMemory())
	bot, _ := o.bot(t, `await note({to: "a"}); throw 1`, `await send({to: "b"}); throw 1`,
		`submit({answer: String(await note({to: "a"}))})`)
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	_, err = agent.Resume(t.Context(), runs, bot, at, map[string]agent.Decision{at.Waiting[0].ID: approved()})
	at = paused(t, err)
	if w := at.Waiting[0]; len(w.Resembles) != 2 || w.Resembles[1].Tool != "send" {
		t.Fatalf("the run waits for %v", w)
	}
	answer := func(r tools.Repeat) (*module.Prediction[agent.Answer], error) {
		return agent.Resume(t.Context(), runs, bot, at, map[string]agent.Decision{at.Waiting[0].ID: repeat(r)})
	}
	if _, err := answer(tools.Repeat{Same: "E2"}); err == nil || !strings.Contains(err.Error(), "of note") {
		t.Errorf("got %v", err)
	}
	pred, err := answer(tools.Repeat{Distinct: []string{"all"}})
	if err != nil || pred.Output.Answer != "3" {
		t.Errorf("got %v, %v", pred, err)
	}
}

// A person is also asked about a call that was repeated on purpose, sees the repetition, and can repeat the call again.
func TestHoldOfRepeatedCall(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, asking(journal.NewMemory())
	bot, _ := o.bot(t, `await note({to: "a"}); throw 1`, `await send({to: "b"}); throw 1`,
		`await note({to: "a"}); throw 1`, `submit({answer: String(await note({to: "a"}))})`)
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	var pred *module.Prediction[agent.Answer]
	for _, resembles := range []int{0, 2, 3} {
		at := paused(t, err)
		w, d := at.Waiting[0], approved()
		if len(w.Resembles) != resembles {
			t.Errorf("the run waits for %s", w)
		}
		if w.Resembles != nil {
			d = repeat(tools.Repeat{Distinct: []string{"all"}})
		}
		pred, err = agent.Resume(t.Context(), runs, bot, at, map[string]agent.Decision{w.ID: d})
	}
	if err != nil || pred.Output.Answer != "4" || o.String() != "note:a note:a note:a send:b" {
		t.Errorf("got %v, %v; the tools did %s", pred, err, o)
	}
}

// While a question is open, calls in progress end, and the calls that the program makes after it wait, too.
func TestHoldAmongOtherCalls(t *testing.T) {
	t.Parallel()
	o, store := &office{}, journal.NewMemory()
	begun := make(chan struct{}, 2)
	slow := tools.Func("slow", "Do it.", func(ctx context.Context, m mail) (int, error) {
		switch m.To {
		case "wait":
			begun <- struct{}{}
			time.Sleep(50 * time.Millisecond) // until the question is open
		case "long":
			begun <- struct{}{}
			time.Sleep(150 * time.Millisecond) // until the program has made another call
		}
		return o.did("slow:" + m.To), ctx.Err()
	}, &tools.Hints{Class: tools.Effect})
	wait := tools.Func("begun", "Waits.", func(context.Context, struct{}) (bool, error) {
		_, _ = <-begun, <-begun
		return true, nil
	}, &tools.Hints{Class: tools.Read})
	model := llmtest.New("```js\n"+noteThenFail+"\n```", "```js\n"+`const c = slow({to: "long"}), a = slow({to: "wait"}), p = send({to: "eve"});
await begun({});
const q = note({to: "Ann"}), b = a.then(() => slow({to: "later"}, {distinct: "all"}));
submit({answer: (await Promise.all([a, c, p, q, b])).join()})`+"\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Tools: o.tools(t, slow, wait)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Start(t.Context(), asking(store), "r-1", bot, task)
	at := paused(t, err)
	if got := o.String(); got != "note:ann slow:long slow:wait" {
		t.Fatalf("the tools did %s", got)
	}
	for range 3 {
		decisions := map[string]agent.Decision{}
		for _, w := range at.Waiting {
			decisions[w.ID] = approved()
			if w.Resembles != nil {
				decisions[w.ID] = repeat(tools.Repeat{Same: "E1"})
			}
		}
		pred, err := agent.Resume(t.Context(), asking(store), bot, at, decisions)
		if err == nil {
			if pred.Output.Answer != "2,3,4,1,5" && pred.Output.Answer != "2,3,5,1,4" {
				t.Errorf("the answer is %s", pred.Output.Answer)
			}
			break
		}
		at = paused(t, err)
	}
	if got := o.String(); got != "note:ann send:eve slow:later slow:long slow:wait" || len(model.Requests()) != 2 {
		t.Errorf("the tools did %s; %d requests", got, len(model.Requests()))
	}
}

// A repetition of a failed call needs no look at the server if a person has decided on it. All conflicts are shown.
func TestHoldOfFailedCall(t *testing.T) {
	t.Parallel()
	tries := 0
	pay := tools.Func("pay", "Pays.", func(_ context.Context, m mail) (string, error) {
		if tries++; tries <= 2 {
			return "", fmt.Errorf("504 for %s", m.To)
		}
		return "paid " + m.To, nil
	}, &tools.Hints{Class: tools.Effect})
	list := tools.Func("list", "Lists payments.", func(context.Context, struct{}) ([]string, error) { return nil, nil },
		&tools.Hints{Class: tools.Read})
	model := llmtest.New("```js\nawait Promise.allSettled([pay({to: \"ann\"}), pay({to: \"bob\"})]); throw 1\n```",
		"```js\nsubmit({answer: await pay({to: \"ann\"})})\n```")
	set, err := tools.NewSet(t.Context(), pay, list)
	if err != nil {
		t.Fatal(err)
	}
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	runs := asking(journal.NewMemory())
	_, err = agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	if len(at.Waiting[0].Resembles) != 2 {
		t.Fatalf("the run waits for %v", at.Waiting)
	}
	pred, err := agent.Resume(t.Context(), runs, bot, at,
		map[string]agent.Decision{at.Waiting[0].ID: repeat(tools.Repeat{Distinct: []string{"all"}})})
	if err != nil || pred.Output.Answer != "paid ann" || tries != 3 {
		t.Errorf("got %v, %v after %d tries", pred, err, tries)
	}
}

// A question within an agent's tool, and one in a ReAct, pause the whole run.
func TestHoldInOtherModules(t *testing.T) {
	t.Parallel()
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	o, tries := &office{}, 0
	inner, _ := o.bot(t, noteThenFail, `submit({answer: "inner " + await note({to: "Ann"})})`)
	set, err := tools.NewSet(t.Context(), module.Tool("helper", "Does it.", inner, nil))
	if err != nil {
		t.Fatal(err)
	}
	outer := module.NewCodeAct(sig, llmtest.New("```js\nsubmit(await helper({task: 'x'}))\n```"), open(t), set, nil)
	pay, err := tools.NewSet(t.Context(), tools.Func("pay", "Pays.", func(context.Context, mail) (string, error) {
		if tries++; tries == 1 {
			return "", errors.New("504")
		}
		return "paid", nil
	}, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		t.Fatal(err)
	}
	const call = `{"tool": "pay", "args": {"to": "bob"}}`
	react := module.NewReAct(sig, llmtest.New(call, call, `{"tool": "submit", "args": {"answer": "paid"}}`), pay, nil)
	for name, test := range map[string]struct {
		module module.Module[agent.Task, agent.Answer]
		answer string
	}{"nested": {outer, "inner 2"}, "react": {react, "paid"}} {
		runs := asking(journal.NewMemory())
		_, err := agent.Start(t.Context(), runs, "r-1", test.module, task)
		at := paused(t, err)
		if len(at.Waiting) != 1 || at.Waiting[0].Resembles == nil {
			t.Fatalf("%s: %v wait", name, at.Waiting)
		}
		pred, err := agent.Resume(t.Context(), runs, test.module, at,
			map[string]agent.Decision{at.Waiting[0].ID: repeat(tools.Repeat{Distinct: []string{"all"}})})
		if err != nil || pred.Output.Answer != test.answer {
			t.Errorf("%s: got %v, %v", name, pred, err)
		}
	}
	if got := o.String(); got != "note:Ann note:ann" || tries != 2 {
		t.Errorf("the tools did %s, and %d payments", got, tries)
	}
}

// A program may end without awaiting the call in question. The run pauses all the same.
func TestHoldOfUnawaitedCall(t *testing.T) {
	t.Parallel()
	for _, second := range []string{`note({to: "Ann"}); 1`, `note({to: "Ann"}); submit({answer: "early"})`} {
		o, runs := &office{}, asking(journal.NewMemory())
		bot, model := o.bot(t, noteThenFail, second, `submit({answer: "end" + await note({to: "Ann"}, {same: "E1"})})`)
		_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
		at := paused(t, err)
		if len(at.Waiting) != 1 || at.Waiting[0].Resembles == nil || len(model.Requests()) != 2 {
			t.Fatalf("%s: %v wait after %d requests", second, at.Waiting, len(model.Requests()))
		}
		pred, err := agent.Resume(t.Context(), runs, bot, at,
			map[string]agent.Decision{at.Waiting[0].ID: repeat(tools.Repeat{Same: "E1"})})
		if err != nil || pred.Output.Answer == "" || o.String() != "note:ann" {
			t.Errorf("%s: got %v, %v; the tools did %s", second, pred, err, o)
		}
	}
}

// fallback answers if its module does not.
type fallback struct{ *agent.Agent }

func (f fallback) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	if pred, err := f.Agent.Run(ctx, in); err == nil {
		return pred, nil
	}
	return &module.Prediction[agent.Answer]{Output: agent.Answer{Answer: "fallback"}}, nil
}

// An answer that was found without the part of the run that has a question does not count.
func TestHoldAndFallback(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, asking(journal.NewMemory())
	model := llmtest.New("```js\n"+noteThenFail+"\n```", "```js\nnote({to: \"Ann\"}); submit({answer: \"early\"})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Tools: o.tools(t),
		Module: module.Options{MaxIters: 2, FreeTurns: -1}})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := agent.Start(t.Context(), runs, "r-1", fallback{bot}, task)
	if at := paused(t, err); len(at.Waiting) != 1 || pred != nil {
		t.Errorf("got %v, %v", pred, at)
	}
}

// A person says that a call is another one, and then changes its arguments into those of the earlier one.
func TestHoldThenChangedArguments(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, asking(journal.NewMemory())
	bot, _ := o.bot(t, `await send({to: "ann"}); throw new Error("it failed")`,
		`submit({answer: String(await send({to: "Ann"}))})`)
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	edited := approved()
	edited.Args = json.RawMessage(`{"to":"ann"}`)
	var pred *module.Prediction[agent.Answer]
	for _, d := range []agent.Decision{approved(), repeat(tools.Repeat{Distinct: []string{"all"}}), edited} {
		at := paused(t, err)
		pred, err = agent.Resume(t.Context(), runs, bot, at, map[string]agent.Decision{at.Waiting[0].ID: d})
	}
	if err != nil || pred.Output.Answer != "2" || o.String() != "send:ann send:ann" {
		t.Errorf("got %v, %v; the tools did %s", pred, err, o)
	}
}
