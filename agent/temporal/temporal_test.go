package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
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
	return limited(t, set, o, model, sandbox.Limits{Argument: 4 << 20})
}

func limited(t *testing.T, set *tools.Set, o Options, model llms.Model, limits sandbox.Limits) *Agent {
	t.Helper()
	box, err := sandbox.NewInProcess(&sandbox.Options{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	bot, err := agent.New(model, &agent.Options{Sandbox: box,
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
	o.Tools = set
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
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	a.Register(env)
	return env
}

// answer runs the workflow, and returns the agent's answer.
func answer(t *testing.T, a *Agent, env *testsuite.TestWorkflowEnvironment) string {
	t.Helper()
	env.ExecuteWorkflow("bot", state{Input: value{JSON: []byte(`{"task":"Buy things."}`)}})
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow has not ended")
	}
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	var v ending
	if err := env.GetWorkflowResult(&v); err != nil {
		t.Fatal(err)
	}
	text, err := load(t.Context(), a.options.Objects, v.Output)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var _ module.Module[agent.Task, agent.Answer] = (*agent.Agent)(nil)

const twoSteps = `const list = await Promise.all([buy({of: "a"}), buy({of: "b"}), look({of: "c"})]);
for (const of of ["d", "e"]) await buy({of});
console.log(list.length)`

const lastStep = `submit({answer: String(await buy({of: "f"}))})`

// twoStepsDo is what both programs do.
const twoStepsDo = "buy:a buy:b buy:d buy:e buy:f look:c"

func TestRun(t *testing.T) {
	t.Parallel()
	s := &shop{}
	a, model := newAgent(t, s.set(t), Options{}, twoSteps, lastStep)
	got := answer(t, a, environment(t, a))
	if s.String() != twoStepsDo || !strings.Contains(got, "6") || len(model.Requests()) != 2 {
		t.Errorf("got %s; the tools did %s", got, s)
	}
	for _, id := range s.ids {
		if !strings.HasPrefix(id, "w") || !strings.Contains(id, ":E") {
			t.Errorf("the ID of an effect is %q", id)
		}
	}
}

// killed registers the agent so that the worker dies in some of the activities that make a run go on: after or before
// the workflow gets what the activity returns.
func killed(t *testing.T, a *Agent, when func(n int) (dies, lost bool)) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	env := environment(t, a)
	var mu sync.Mutex
	n := 0
	env.RegisterActivityWithOptions(func(ctx context.Context, in advance) (progress, error) {
		p, err := a.advance(ctx, in)
		mu.Lock()
		defer mu.Unlock()
		n++
		dies, lost := when(n)
		if dies { // but other runs of the agent, which an evaluation has, go on
			a.mu.Lock()
			if l := a.lives[in.Run]; l != nil {
				a.drop(in.Run, l)
			}
			a.mu.Unlock()
		}
		if lost {
			return progress{}, errors.New("the worker has died")
		}
		return p, err
	}, activity.RegisterOptions{Name: "bot" + activityAdvance, DisableAlreadyRegisteredCheck: true})
	return env
}

// Effects happen once, whenever a worker dies.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	whens := map[string]func(n int) (dies, lost bool){
		"always":         func(int) (bool, bool) { return true, false },
		"every second":   func(n int) (bool, bool) { return n%2 == 0, n%2 == 0 },
		"answer is lost": func(n int) (bool, bool) { return false, n%3 != 0 },
	}
	for k := range 8 {
		whens[fmt.Sprint("after ", k)] = func(n int) (bool, bool) { return n == k, false }
		whens[fmt.Sprint("in ", k)] = func(n int) (bool, bool) { return n == k, n == k }
	}
	for name, when := range whens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shop{}
			dir, err := journal.OpenDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			a, _ := newAgent(t, s.set(t), Options{Store: dir}, twoSteps, lastStep)
			got := answer(t, a, killed(t, a, when))
			if s.String() != twoStepsDo || !strings.Contains(got, "6") {
				t.Errorf("got %s; the tools did %s", got, s)
			}
			if len(slices.Compact(slices.Sorted(slices.Values(s.ids)))) != 6 {
				t.Errorf("the IDs of the effects are %q", s.ids)
			}
		})
	}
}

// The workflow keeps a result until the journal has it: a policy may look at it for long.
func TestResultIsKept(t *testing.T) {
	t.Parallel()
	s, held, died := &shop{}, make(chan struct{}), make(chan struct{})
	slow := tools.Func("slow", "Waits.", func(ctx context.Context, o order) (int, error) {
		<-died
		return s.did(ctx, "slow:"+o.Of), nil
	}, &tools.Hints{Class: tools.Effect})
	var once sync.Once
	set := s.set(t, slow)
	a, _ := newAgent(t, set, Options{},
		`submit({answer: String(await Promise.all([buy({of: "a"}), slow({of: "b"})]))})`)
	hold := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			result, err := next.Call(ctx, c)
			if c.Tool.Path() == "buy" && err == nil {
				once.Do(func() {
					defer tools.Pause(ctx)()
					close(held)
					<-ctx.Done()
				})
			}
			return result, err
		})
	}
	begin, resume := a.begin, a.resume
	a.begin = func(ctx context.Context, p []byte, run string, input json.RawMessage) (returned, error) {
		return begin(tools.WithPolicies(ctx, hold), p, run, input)
	}
	a.resume = func(ctx context.Context, p []byte, c agent.Checkpoint, d map[string]agent.Decision) (returned, error) {
		return resume(tools.WithPolicies(ctx, hold), p, c, d)
	}
	env := killed(t, a, func(int) (dies, lost bool) {
		select {
		case <-held:
		default:
			return false, false
		}
		select {
		case <-died:
			return false, false
		default:
			close(died)
			return true, false
		}
	})
	if got := answer(t, a, env); !strings.Contains(got, "1,2") || s.String() != "buy:a slow:b" {
		t.Errorf("got %s; the tools did %s", got, s)
	}
}
