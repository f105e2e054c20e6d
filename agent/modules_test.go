package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// streamed runs a module as a stream.
type streamed struct {
	Module module.Module[agent.Task, agent.Answer]
}

func (m *streamed) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	return module.Start(ctx, m.Module, in).Result()
}

// Every kind of module can pause, and goes on.
func TestPausedModules(t *testing.T) {
	t.Parallel()
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	const program = "await note({to: 'x'});\nsubmit({answer: '' + await send({to: 'ann'})})"
	const reply = "```js\n" + program + "\n```"
	for _, name := range []string{"stream", "chat", "rlm", "program", "program that fails"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, runs := &office{}, agent.NewRuns(journal.NewMemory())
			box, set := open(t), o.tools(t)
			makeModule := func() module.Module[agent.Task, agent.Answer] {
				switch name {
				case "stream":
					return &streamed{module.NewCodeAct(sig, llmtest.New(reply), box, set, nil)}
				case "chat":
					return module.NewChat(sig, llmtest.New(reply), box, set, nil)
				case "rlm":
					return module.NewRLM(sig, llmtest.New(reply), box, set, nil)
				case "program":
					p := module.NewProgram(sig, module.Script{Code: program}, box, set, nil)
					return p
				}
				p := module.NewProgram(sig,
					module.Script{Code: "await note({to: 'x'});\nawait send({to: 'ann'});\nthrow new Error('no')"}, box, set, nil)
				p.Predictor.Model = llmtest.New(reply)
				return p
			}
			_, err := agent.Start(t.Context(), runs, "r-1", makeModule(), task)
			for range 3 {
				p, ok := errors.AsType[*agent.PausedError](err)
				if !ok {
					break
				}
				decisions := map[string]agent.Decision{}
				for _, w := range p.Checkpoint.Waiting {
					decisions[w.ID] = approved()
				}
				_, err = agent.Resume(t.Context(), runs, makeModule(), p.Checkpoint, decisions)
			}
			if err != nil || o.String() != "note:x send:ann" {
				t.Errorf("the tools did %s, and the error is %v", o, err)
			}
		})
	}
}

// A run can be paused at any call, any number of times.
func TestPauseAnywhere(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	calls, at := 0, 0
	pausing := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if calls++; calls == at {
				runs.Pause("r-1")
			}
			result, err := next.Call(ctx, c)
			if calls++; calls == at {
				runs.Pause("r-1")
			}
			return result, err
		})
	}
	box := open(t)
	for at = 1; at < 9; at++ {
		calls, o.done = 0, nil
		model := llmtest.New("```js\nfor (const to of ['a', 'b']) await note({to}); console.log('more')\n```",
			"```js\nawait Promise.all([note({to: 'c'}), note({to: 'd'})]); submit({answer: 'yes'})\n```")
		set := o.tools(t).With(func(next tools.Caller) tools.Caller { return next })
		bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set.With(serial(pausing))})
		if err != nil {
			t.Fatal(err)
		}
		store := journal.NewMemory()
		runs = agent.NewRuns(store)
		_, err = agent.Start(t.Context(), runs, "r-1", bot, task)
		pauses := 0
		for range 3 {
			p, ok := errors.AsType[*agent.PausedError](err)
			if !ok {
				break
			}
			if pauses++; len(p.Checkpoint.Waiting) > 0 {
				t.Fatalf("at %d: %v wait", at, p.Checkpoint.Waiting)
			}
			_, err = agent.Resume(t.Context(), runs, bot, p.Checkpoint, nil)
		}
		if err != nil || o.String() != "note:a note:b note:c note:d" || len(model.Requests()) != 2 {
			t.Errorf("at %d: after %d pauses, the tools did %s: %v", at, pauses, o, err)
		}
	}
}

// serial makes one call at a time.
func serial(p tools.Policy) tools.Policy {
	turn := make(chan struct{}, 1)
	return func(next tools.Caller) tools.Caller {
		inner := p(next)
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			turn <- struct{}{}
			defer func() { <-turn }()
			return inner.Call(ctx, c)
		})
	}
}

// A run that cannot be started because of its input leaves nothing.
func TestInputIsNotJSON(t *testing.T) {
	t.Parallel()
	runs := agent.NewRuns(journal.NewMemory())
	if _, err := agent.Start(t.Context(), runs, "r-1", never{}, make(chan int)); err == nil ||
		!strings.Contains(err.Error(), "the input of run r-1") {
		t.Errorf("got %v", err)
	}
	if list, err := runs.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("got %v, %v", list, err)
	}
}

type never struct{}

func (never) Run(context.Context, chan int) (*module.Prediction[int], error) { panic("it was run") }
