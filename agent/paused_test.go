package agent_test

import (
	"context"
	"encoding/json"
	"errors"
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

// A decision reaches the call even if its arguments have characters that JSON may escape.
func TestDecisionOnEscapedArguments(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	bot, _ := o.bot(t, `submit({answer: String(await send({to: "<ann> & bob\u2028\u00e9"}))})`)
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	pred, err := agent.Resume(t.Context(), runs, bot, at, map[string]agent.Decision{at.Waiting[0].ID: approved()})
	if err != nil || pred.Output.Answer != "1" || o.String() != "send:<ann> & bob\u2028\u00e9" {
		t.Errorf("got %v, %v; the tools did %s", pred, err, o)
	}
}

// If one decision is invalid, none is recorded, and the checkpoint stays valid.
func TestInvalidDecisions(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	bot, _ := o.bot(t, sendTwo)
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	notJSON, granted := approved(), approved()
	notJSON.Args = json.RawMessage(`{"to":`)
	granted.Grant = &policy.Grant{Tool: "send", Calls: 3}
	for name, bad := range map[string]map[string]agent.Decision{
		"has no call r-1/x:E9": {"r-1/x:E9": approved()},
		"not JSON":             {at.Waiting[1].ID: notJSON},
		"Outcome":              {at.Waiting[1].ID: {Outcome: &journal.Reconciled{State: journal.StateOK}}},
		"Grant":                {at.Waiting[1].ID: granted},
	} {
		for range 8 { // the order of a map is random
			decisions := map[string]agent.Decision{at.Waiting[0].ID: approved()}
			for id, d := range bad {
				decisions[id] = d
			}
			_, err := agent.Resume(t.Context(), runs, bot, at, decisions)
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("got %v, want %s", err, name)
			}
		}
	}
	decisions := map[string]agent.Decision{at.Waiting[0].ID: approved(), at.Waiting[1].ID: approved()}
	if _, err := agent.Resume(t.Context(), runs, bot, at, decisions); err != nil {
		t.Error(err)
	}
	if got := o.String(); got != "note:x send:ann send:bob" {
		t.Errorf("the tools did %s", got)
	}
}

// Arguments that a person has edited are validated. The program gets the error.
func TestEditedArgumentsAreInvalid(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	bot, _ := o.bot(t, sendTwo)
	_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	edited := approved()
	edited.Args = json.RawMessage(`{"to": 5}`)
	pred, err := agent.Resume(t.Context(), runs, bot, at,
		map[string]agent.Decision{at.Waiting[0].ID: edited, at.Waiting[1].ID: approved()})
	if err != nil || !strings.Contains(pred.Output.Answer, "to must be a string") {
		t.Errorf("got %v, %v", pred, err)
	}
	if got := o.String(); strings.Count(got, "send") != 1 {
		t.Errorf("the tools did %s", got)
	}
}

// Two policies ask about one call. A person edits the arguments for the first.
func TestTwoApprovalsOfACall(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	model := llmtest.New("```js\nsubmit({answer: String(await send({to: 'ann'}))})\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Tools: o.tools(t).With(policy.Approve(nil))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Start(t.Context(), runs, "r-1", bot, task)
	for i := range 4 {
		p, ok := errors.AsType[*agent.PausedError](err)
		if !ok {
			break
		}
		if len(p.Checkpoint.Waiting) != 1 {
			t.Fatalf("%v wait", p.Checkpoint.Waiting)
		}
		d := approved()
		if i == 0 {
			d.Args = json.RawMessage(`{"to":"eve"}`)
		}
		_, err = agent.Resume(t.Context(), runs, bot, p.Checkpoint,
			map[string]agent.Decision{p.Checkpoint.Waiting[0].ID: d})
	}
	if err != nil || o.String() != "send:eve" {
		t.Errorf("the tools did %s, and the error is %v", o, err)
	}
}

// sampled returns a module whose runs have the same inputs at the same time.
type sampled struct {
	Module  module.Module[agent.Task, agent.Answer]
	samples bool
}

func (m *sampled) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	var results []module.Result[agent.Answer]
	var err error
	if m.samples {
		results, err = module.Samples(ctx, m.Module, in, 4, nil)
	} else {
		results, err = module.Parallel(ctx, m.Module, []agent.Task{in, in, in, in}, nil)
	}
	if err != nil {
		return nil, err
	}
	return module.Majority(results, nil)
}

// Runs with the same inputs at the same time keep their calls apart.
func TestResumeConcurrentRunsWithSameInputs(t *testing.T) {
	t.Parallel()
	for _, samples := range []bool{true, false} {
		for range 10 {
			o, runs := &office{}, agent.NewRuns(journal.NewMemory())
			var mu sync.Mutex
			replies := 0
			model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
				mu.Lock()
				defer mu.Unlock()
				replies++
				name := string(rune('a' + replies))
				return llmtest.Reply{Text: "```js\nconst r = await note({to: '" + name + "'}); await send({to: '" + name +
					"'}); submit({answer: 'done'})\n```"}, nil
			})
			bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Tools: o.tools(t)})
			if err != nil {
				t.Fatal(err)
			}
			m := &sampled{bot.Module, samples}
			_, err = agent.Start(t.Context(), runs, "r-1", m, task)
			for p, ok := errors.AsType[*agent.PausedError](err); ok; p, ok = errors.AsType[*agent.PausedError](err) {
				decisions := map[string]agent.Decision{} // once one waits, those that do not yet wait are stopped
				for _, w := range p.Checkpoint.Waiting {
					decisions[w.ID] = approved()
				}
				_, err = agent.Resume(t.Context(), runs, m, p.Checkpoint, decisions)
			}
			const want = "note:b note:c note:d note:e send:b send:c send:d send:e"
			if got := o.String(); err != nil || got != want || replies != 4 {
				t.Fatalf("samples: %v: the tools did %s after %d replies: %v", samples, got, replies, err)
			}
		}
	}
}

// An attempt that waits for a person is not replaced by a worse one.
func TestPausedAttempts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"best of", "refine", "majority"} {
		o, runs := &office{}, agent.NewRuns(journal.NewMemory())
		bot, model := o.bot(t, `submit({answer: "bad"})`, `submit({answer: "good" + await send({to: "ann"})})`,
			`submit({answer: "ugly"})`)
		reward := func(_ context.Context, _ agent.Task, p *module.Prediction[agent.Answer]) (module.Score, error) {
			s := module.Score{Feedback: "not good"}
			if strings.HasPrefix(p.Output.Answer, "good") {
				s.Value = 1
			}
			return s, nil
		}
		var m module.Module[agent.Task, agent.Answer]
		switch name {
		case "best of":
			m = module.NewBestOfN(bot.Module, 3, reward, 1, nil)
		case "refine":
			m = module.NewRefine(bot.Module, 3, reward, 1, nil)
		case "majority":
			m = &collected{bot.Module}
		}
		_, err := agent.Start(t.Context(), runs, "r-1", m, task)
		at := paused(t, err)
		if len(at.Waiting) != 1 || o.String() != "" || name != "majority" && len(model.Requests()) != 2 {
			t.Errorf("%s: %v wait, after %d requests", name, at.Waiting, len(model.Requests()))
			continue
		}
		pred, err := agent.Resume(t.Context(), runs, m, at, map[string]agent.Decision{at.Waiting[0].ID: approved()})
		if err != nil || o.String() != "send:ann" || name != "majority" && pred.Output.Answer != "good1" {
			t.Errorf("%s: got %v, %v, and the tools did %s", name, pred, err, o)
		}
	}
}

// collected returns the most frequent answer of the samples that have one.
type collected struct {
	Module module.Module[agent.Task, agent.Answer]
}

func (m *collected) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	results, _ := module.Samples(ctx, m.Module, in, 3, &module.ParallelOptions{Workers: 1, Collect: true})
	return module.Majority(results, nil)
}

// While a sub-agent waits for a person, the other calls of the program end.
func TestPausedSubAgentWaitsForSibling(t *testing.T) {
	t.Parallel()
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	slow := tools.Func("slow", "Slow.", func(ctx context.Context, _ struct{}) (string, error) {
		for !strings.Contains(o.String(), "note") && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond) // meanwhile, the call of send waits
		o.did("slow")
		return "slow", ctx.Err()
	}, &tools.Hints{Class: tools.Effect})
	model := llmtest.New("```js\nawait note({to: 'x'}); submit({answer: 'inner' + await send({to: 'ann'})})\n```")
	inner, err := agent.New(model, &agent.Options{Sandbox: open(t), Tools: o.tools(t)})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(t.Context(), module.Tool("helper", "Does it.", inner, nil), slow)
	if err != nil {
		t.Fatal(err)
	}
	outer := module.NewCodeAct(sig, llmtest.New(
		"```js\nconst [a, b] = await Promise.all([helper({task: 'x'}), slow({})]);\nsubmit({answer: a.answer + b})\n```"),
		open(t), set, nil)
	_, err = agent.Start(t.Context(), runs, "r-1", outer, task)
	at := paused(t, err)
	if len(at.Waiting) != 1 || o.String() != "note:x slow" {
		t.Fatalf("%v wait, and the tools did %s", at.Waiting, o)
	}
	pred, err := agent.Resume(t.Context(), runs, outer, at, map[string]agent.Decision{at.Waiting[0].ID: approved()})
	if err != nil || o.String() != "note:x send:ann slow" || !strings.HasSuffix(pred.Output.Answer, "slow") {
		t.Errorf("got %v, %v; the tools did %s", pred, err, o)
	}
}
