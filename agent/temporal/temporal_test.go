package temporal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
	"go.temporal.io/sdk/testsuite"
)

// shop has tools, and records what they did.
type shop struct {
	mu   sync.Mutex
	done []string
	ids  []string
}

func (s *shop) did(ctx context.Context, what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, s.ids = append(s.done, what), append(s.ids, tools.EffectID(ctx))
	return len(s.done)
}

func (s *shop) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(s.done)), " ")
}

type order struct {
	Of string `json:"of"`
}

func (s *shop) set(t *testing.T, more ...*tools.Tool) *tools.Set {
	t.Helper()
	tool := func(name string, h tools.Hints) tools.Source {
		return tools.Func(name, "Do it.", func(ctx context.Context, o order) (int, error) {
			return s.did(ctx, name+":"+o.Of), nil
		}, &h)
	}
	sources := []tools.Source{tool("buy", tools.Hints{Class: tools.Effect}),
		tool("pay", tools.Hints{Class: tools.Effect, Destructive: true}), tool("look", tools.Hints{Class: tools.Read})}
	for _, m := range more {
		sources = append(sources, m)
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func fences(programs []string) []string {
	list := make([]string, len(programs))
	for i, p := range programs {
		list[i] = "```js\n" + p + "\n```"
	}
	return list
}

// newAgent returns an agent that writes the programs in order.
func newAgent(t *testing.T, set *tools.Set, o Options, programs ...string) (*Agent, *llmtest.Model) {
	t.Helper()
	model := llmtest.New(fences(programs)...)
	return agentWith(t, set, o, model), model
}

func agentWith(t *testing.T, set *tools.Set, o Options, model llms.Model) *Agent {
	t.Helper()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	named := Model("main", model)
	bot, err := agent.New(named, &agent.Options{Sandbox: box,
		Tools: set.With(policy.If(policy.Destructive(), policy.Approve(nil)))})
	if err != nil {
		t.Fatal(err)
	}
	if o.Store == nil {
		o.Store = journal.NewMemory()
	}
	if o.Objects == nil {
		if o.Objects, err = OpenDir(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	o.Tools, o.Models = set, []llms.Model{named}
	a, err := New[agent.Task, agent.Answer]("bot", bot, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// environment returns an environment in which the agent is registered.
func environment(t *testing.T, a *Agent) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	a.Register(env)
	return env
}

// answer runs the workflow, and returns the agent's answer.
func answer(t *testing.T, a *Agent, env *testsuite.TestWorkflowEnvironment) string {
	t.Helper()
	env.ExecuteWorkflow("bot", state{Input: Value{JSON: []byte(`{"task":"Buy things."}`)}})
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow has not ended")
	}
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	var v Value
	if err := env.GetWorkflowResult(&v); err != nil {
		t.Fatal(err)
	}
	text, err := load(t.Context(), a.options.Objects, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var _ module.Module[agent.Task, agent.Answer] = (*agent.Agent)(nil)

func TestRun(t *testing.T) {
	t.Parallel()
	s := &shop{}
	a, model := newAgent(t, s.set(t), Options{},
		`const list = await Promise.all([buy({of: "a"}), buy({of: "b"}), look({of: "c"})]);
console.log(list.length)`, `submit({answer: String(await buy({of: "d"}))})`)
	got := answer(t, a, environment(t, a))
	if s.String() != "buy:a buy:b buy:d look:c" || !strings.Contains(got, "4") || len(model.Requests()) != 2 {
		t.Errorf("got %s; the tools did %s", got, s)
	}
	for _, id := range s.ids {
		if !strings.HasPrefix(id, "w") || !strings.Contains(id, ":E") {
			t.Errorf("the ID of an effect is %q", id)
		}
	}
	_ = fmt.Sprint
}
