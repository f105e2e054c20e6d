package temporal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
	"go.temporal.io/sdk/activity"
)

type attackWrap struct{ Part *agent.Agent }

func (w attackWrap) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	return w.Part.Run(ctx, in)
}

// A run that began with another module type must be refused, not repeated.
func TestOtherModule(t *testing.T) {
	s := &shop{}
	set := s.set(t)
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{
			Text: fences([]string{`await buy({of: "a"}); await pay({of: "b"}); submit({answer: "ok"})`})[0],
		}, nil
	})
	bot, err := agent.New(
		model,
		&agent.Options{Sandbox: box, Tools: set.With(policy.If(policy.Destructive(), policy.Approve(nil)))},
	)
	if err != nil {
		t.Fatal(err)
	}
	objects, _ := OpenDir(t.TempDir())
	o := Options{Store: journal.NewMemory(), Objects: objects, Tools: set, Version: "same"}
	a1, err := New[agent.Task, agent.Answer]("bot", bot, &o)
	if err != nil {
		t.Fatal(err)
	}
	a2, err := New[agent.Task, agent.Answer]("bot", attackWrap{bot}, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("queues %s %s", a1.TaskQueue(), a2.TaskQueue())
	cur, errs := a1, 0
	env := environment(t, a1)
	env.RegisterActivityWithOptions(func(ctx context.Context, in advance) (progress, error) {
		p, err := cur.advance(ctx, in)
		if err != nil {
			t.Logf("advance: %v", err)
			if errs++; errs > 3 {
				return progress{State: agent.Failed, Error: err.Error(), Kind: "x"}, nil
			}
		}
		return p, err
	}, activity.RegisterOptions{Name: "bot" + activityAdvance, DisableAlreadyRegisteredCheck: true})
	env.RegisterActivityWithOptions(func(ctx context.Context, in askInput) error {
		return cur.ask(ctx, in)
	}, activity.RegisterOptions{Name: "bot" + activityAsk, DisableAlreadyRegisteredCheck: true})
	n := 0
	var again func()
	again = func() {
		list := waiting(t, a1, env)
		if n++; len(list) != 1 || n > 2 {
			return
		}
		a1.Close()
		cur = a2
		env.UpdateWorkflow(decideName, fmt.Sprint("u-", n), &updated{}, Answer{Call: list[0].ID, Decision: approved()})
		env.RegisterDelayedCallback(again, time.Hour)
	}
	env.RegisterDelayedCallback(again, time.Hour)
	env.ExecuteWorkflow("bot", state{Input: value{JSON: []byte(`{"task":"Buy things."}`)}})
	t.Logf("ended: %v; the tools did %q", env.GetWorkflowError(), s)
	if strings.Count(s.String(), "buy:a") > 1 {
		t.Errorf("the effect was repeated: %s", s)
	}
}

func attackLooks(t *testing.T, answer string) (*Agent, *llmtest.Model) {
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fences([]string{`submit({answer: "` + answer + `"})`})[0]}, nil
	})
	looks := (&shop{}).set(t).Only(func(b *tools.Binding) bool { return b.Hints.Class == tools.Read })
	return agentWith(t, looks, Options{}, model), model
}

type attackDesk struct {
	Desk module.Module[agent.Task, agent.Answer]
	bare bool
}

func (d attackDesk) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	p, err := d.Desk.Run(ctx, in)
	if err == nil && d.bare {
		p = &module.Prediction[agent.Answer]{Output: p.Output}
	}
	return p, err
}

// A remote module that is a part of a program.
func TestNestedRemote(t *testing.T) {
	a, _ := attackLooks(t, "1")
	r := Module[agent.Task, agent.Answer](a, &server{t: t, a: a}, "x-")
	for _, bare := range []bool{false, true} {
		m := attackDesk{r, bare}
		var paths []string
		for path := range module.Predictors(m) {
			paths = append(paths, path)
		}
		p, err := module.Run[agent.Task, agent.Answer](t.Context(), m, agent.Task{Task: "Look."})
		if err != nil {
			t.Fatal(err)
		}
		got := "nothing"
		if len(p.Trajectory.Steps) > 0 {
			got = p.Trajectory.Steps[0].Predictor
		}
		if got != paths[0] {
			t.Errorf(
				"bare %v: the trajectory has predictor %q, module.Predictors has %q; usage %v",
				bare,
				got,
				paths,
				p.Trajectory.Usage(),
			)
		}
	}
}

// A budget that is spent must stop further runs.
// Providers that report no tokens, or cached tokens.
// A trajectory that cannot be encoded.
// An answer must not be lost with the record of how it was found.
func TestTrajectoryLost(t *testing.T) {
	a, _ := attackLooks(t, "1")
	a.options.Objects = &attackObjects{Objects: a.options.Objects}
	m := Module[agent.Task, agent.Answer](a, &server{t: t, a: a}, "x-")
	p, err := m.Run(t.Context(), agent.Task{Task: "Look."})
	if err != nil {
		t.Errorf("got %v, %v", p, err)
	}
}

type attackObjects struct{ Objects }

func (o *attackObjects) Get(ctx context.Context, key string) ([]byte, error) {
	return nil, errors.New("expired")
}

// Prices are looked up under the name that the agent's model has, as for local runs.
func TestPriceName(t *testing.T) {
	script := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fences([]string{`submit({answer: "1"})`})[0], Model: "gpt-2024-08-06"}, nil
	})
	looks := (&shop{}).set(t).Only(func(b *tools.Binding) bool { return b.Hints.Class == tools.Read })
	a := agentWith(t, looks, Options{}, script.With(models.Capabilities{Model: "gpt"}))
	m := Module[agent.Task, agent.Answer](a, &server{t: t, a: a}, "x-")
	l := budget.Limits{Cost: 100, Prices: map[string]budget.Price{"gpt": {Input: 10, Output: 10}}}
	ctx, local := budget.With(t.Context(), l), budget.With(t.Context(), l)
	if _, err := a.module.(module.Module[agent.Task, agent.Answer]).Run(local, agent.Task{Task: "Look."}); err != nil {
		t.Errorf("local: %v", err)
	}
	if _, err := m.Run(ctx, agent.Task{Task: "Look."}); err != nil {
		t.Errorf("remote: %v; spent %v, local %v", err, budget.Of(ctx).Spent(), budget.Of(local).Spent())
	}
}

// Predictors in modules that are tools have their paths.
// A failure of the objects for a moment loses the trajectory, and with it what the budgets are charged.
func TestPutOnce(t *testing.T) {
	a, _ := attackLooks(t, "1")
	o := &attackPut{Objects: a.options.Objects}
	a.options.Objects = o
	m := Module[agent.Task, agent.Answer](a, &server{t: t, a: a}, "x-")
	s := m.(*remote[agent.Task, agent.Answer]).client.(*server)
	s.dies = false
	ctx := budget.With(t.Context(), budget.Limits{Calls: 100})
	p, err := m.Run(ctx, agent.Task{Task: "Look."})
	if err != nil || len(p.Trajectory.Steps) == 0 || budget.Of(ctx).Spent().Calls == 0 {
		t.Errorf(
			"got %v, %v; %d steps, spent %v; failed %d",
			p,
			err,
			len(p.Trajectory.Steps),
			budget.Of(ctx).Spent(),
			o.failed,
		)
	}
}

type attackPut struct {
	Objects
	failed int
}

func (o *attackPut) Put(ctx context.Context, key string, object []byte) error {
	if strings.Contains(string(object), `"duration_ns"`) && o.failed == 0 {
		o.failed++
		return errors.New("for a moment")
	}
	return o.Objects.Put(ctx, key, object)
}

type attackBoth struct {
	Agent *agent.Agent // another one, which runs here
	Desk  module.Module[agent.Task, agent.Answer]
}

func (d attackBoth) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	return d.Desk.Run(ctx, in)
}

// The calls of a remote part must not count as those of another predictor.
func TestWrongPredictor(t *testing.T) {
	a, _ := attackLooks(t, "1")
	m := attackBoth{a.module.(*agent.Agent), Module[agent.Task, agent.Answer](a, &server{t: t, a: a}, "x-")}
	var paths []string
	for path := range module.Predictors(m) {
		paths = append(paths, path)
	}
	p, err := module.Run[agent.Task, agent.Answer](t.Context(), m, agent.Task{Task: "Look."})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Trajectory.Steps[0].Predictor; got == paths[0] {
		t.Errorf("a call of %q counts as one of %q, which was not asked (of %q)", paths[1], got, paths)
	}
}

// What a run has cost is charged even if the context ends at the same time.
