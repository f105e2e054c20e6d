package temporal

import (
	"context"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/journal"
)

// frugal runs an agent with a budget.
type frugal struct {
	module.Module[agent.Task, agent.Answer]
	limits budget.Limits
}

func (m frugal) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	return m.Module.Run(budget.With(ctx, m.limits), in)
}

// A budget within a run holds over all workers, and for the modules that the agent calls.
func TestBudgetOfKilledRuns(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	for name, when := range map[string]func(int) (bool, bool){
		"alive":  func(int) (bool, bool) { return false, false },
		"killed": func(n int) (bool, bool) { return n%2 == 0, n%3 == 0 },
		"always": func(int) (bool, bool) { return true, false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shop{}
			set := s.set(t)
			model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
				program := `const refused = [];
for (const of of ["a", "b", "c"]) await buy({of}).catch(e => refused.push(e.kind));
submit({answer: refused.join() || "all"})`
				if !strings.Contains(r.Text(), "Help.") {
					program = `const helped = await help({task: "Help."});
await buy({of: "d"}).catch(e => submit({answer: helped.answer + " " + e.kind}))`
				}
				return llmtest.Reply{Text: fences([]string{program})[0]}, nil
			})
			helper, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
			if err != nil {
				t.Fatal(err)
			}
			all, err := set.Plus(module.Tool[agent.Task, agent.Answer]("help", "Helps.", helper, nil))
			if err != nil {
				t.Fatal(err)
			}
			bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: all})
			if err != nil {
				t.Fatal(err)
			}
			objects, err := OpenDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			a, err := New[agent.Task, agent.Answer]("bot", frugal{bot, budget.Limits{ToolCalls: 3}},
				&Options{Store: journal.NewMemory(), Objects: objects, Tools: all})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.Close)
			got := answer(t, a, killed(t, a, when))
			if !strings.Contains(got, "budget budget") || s.String() != "buy:a buy:b" {
				t.Errorf("got %s; the tools did %s", got, s)
			}
		})
	}
}
