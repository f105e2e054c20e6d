package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// member makes an agent whose model writes first in its first request, and then in the next ones. If the agent is told
// about an earlier attempt, the model writes again.
func member(t *testing.T, box module.Sandbox, set *tools.Set, first, again string, next ...string) *agent.Agent {
	t.Helper()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		replies := 0
		for _, m := range r.Messages {
			if m.Role == llms.ChatMessageTypeAI {
				replies++
			}
		}
		program := first
		switch {
		case replies > len(next):
			return llmtest.Reply{}, errors.New("nothing more to write")
		case replies > 0:
			program = next[replies-1]
		case strings.Contains(r.Text(), "An earlier attempt"):
			program = again
		}
		return llmtest.Reply{Text: "```js\n" + program + "\n```"}, nil
	})
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	return bot
}

func setOf(t *testing.T, sources ...tools.Source) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A call of an agent's agent pauses the whole run. Wherever the process ends, and whichever agent fails after an
// effect, the effects happen once.
func TestDurableSubAgents(t *testing.T) {
	t.Parallel()
	const work = `await note({to: "x"}); submit({answer: "" + await send({to: "ann"})})`
	const fails = `await note({to: "x"}); throw 1`
	for name, test := range map[string]struct{ clerk, manager, managerNext, managerAgain, bossNext string }{
		"nobody fails": {work, `submit(await clerk({task: "c"}))`, "", "", ""},
		"the clerk fails": {fails, `await clerk({task: "c"})`,
			`submit(await clerk({task: "c"}, {again: "E1"}))`, "", ""},
		"the clerk fails, and the manager writes other words": {fails, `await clerk({task: "c"})`,
			`submit(await clerk({task: "d"}, {again: "E1", distinct: "E1"}))`, "", ""},
		"both fail": {fails, `await clerk({task: "c"})`, `nonsense`, `submit(await clerk({task: "c"}, {again: "E1"}))`,
			`submit(await manager({task: "m"}, {again: "E1"}))`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := open(t)
			for left := -1; ; left += 4 + len(name)%3 {
				o, d := &office{}, newDisk(left)
				makeBoss := func() *agent.Agent {
					set := o.tools(t)
					clerk := agentTool("clerk", member(t, box, set, test.clerk, work))
					manager := agentTool("manager", member(t, box, setOf(t, clerk), test.manager, test.managerAgain,
						nonempty(test.managerNext)...))
					return member(t, box, setOf(t, manager), `submit(await manager({task: "m"}))`, "", nonempty(test.bossNext)...)
				}
				_, err := agent.Start(t.Context(), agent.NewRuns(d), "r-1", makeBoss(), task)
				full, pauses := isFull(err), 0
				for ; err != nil && pauses < 9; pauses++ {
					full = full || isFull(err)
					if d = d.restart(); pauses == 0 {
						d.left = left // the second process ends as well
					}
					runs := agent.NewRuns(d)
					at, failed := runs.Checkpoint(t.Context(), "r-1")
					if errors.Is(failed, agent.ErrNoRun) {
						_, err = agent.Start(t.Context(), runs, "r-1", makeBoss(), task)
						continue
					}
					if failed != nil {
						t.Fatal(failed)
					}
					decisions := map[string]agent.Decision{}
					for _, w := range at.Waiting {
						if !w.Unknown && !slices.Equal(w.Agents, []string{"manager", "clerk"}) {
							t.Fatalf("%v wants %v", w.Agents, w)
						}
						decisions[w.ID] = approved()
						if w.Unknown {
							outcome := &journal.Reconciled{State: journal.StateRejected}
							if strings.Contains(o.String(), w.Tool+":") {
								outcome = &journal.Reconciled{State: journal.StateOK, Result: []byte("1")}
							}
							decisions[w.ID] = agent.Decision{Outcome: outcome}
						}
					}
					_, err = agent.Resume(t.Context(), runs, makeBoss(), at, decisions)
				}
				if err != nil || o.String() != "note:x send:ann" || left < 0 && pauses != 1 {
					t.Fatalf("after %d operations and %d pauses, the tools did %s: %v", left, pauses, o, err)
				}
				if !full && left > 0 {
					return
				}
			}
		})
	}
}

func agentTool(name string, a *agent.Agent) *tools.Tool {
	return module.Tool(name, "", module.Module[agent.Task, agent.Answer](a), nil)
}

func isFull(err error) bool { return err != nil && strings.Contains(err.Error(), errFull.Error()) }

func nonempty(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}
