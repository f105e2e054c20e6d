package temporal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
)

// server is a client whose workflows run at once, in the test environment. The first activity that makes a run go on
// fails as if its worker was killed.
type server struct {
	client.Client
	t    *testing.T
	a    *Agent
	dies bool // a worker drops the run after each activity that makes it go on
}

func (s *server) ExecuteWorkflow(
	_ context.Context, o client.StartWorkflowOptions, workflow any, args ...any,
) (client.WorkflowRun, error) {
	env := killed(s.t, s.a, func(n int) (dies, lost bool) { return s.dies, n == 1 })
	env.SetStartWorkflowOptions(o)
	env.ExecuteWorkflow(workflow, args...)
	return &ran{env: env}, nil
}

type ran struct {
	client.WorkflowRun
	env *testsuite.TestWorkflowEnvironment
}

func (r *ran) Get(_ context.Context, v any) error {
	if err := r.env.GetWorkflowError(); err != nil {
		return err
	}
	return r.env.GetWorkflowResult(v)
}

// An evaluation runs its examples as workflows.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Text(), "number 3") {
			return llmtest.Reply{Text: "I do not know."}, nil
		}
		return llmtest.Reply{Text: fences([]string{`submit({answer: String(await look({of: "a"}))})`})[0]}, nil
	})
	set := (&shop{}).set(t)
	looks := set.Only(func(b *tools.Binding) bool { return b.Hints.Class == tools.Read })
	a := agentWith(t, looks, Options{}, model)
	var examples []evaluate.Example[agent.Task, agent.Answer]
	for i := range 8 {
		examples = append(examples, evaluate.Example[agent.Task, agent.Answer]{
			In: agent.Task{Task: fmt.Sprintf("Look at number %d.", i)}, Want: agent.Answer{Answer: "1"}})
	}
	m := Module[agent.Task, agent.Answer](a, &server{t: t, a: a}, "eval-")
	metric := evaluate.Contains[agent.Task, agent.Answer]("answer")
	report, err := evaluate.Evaluate(t.Context(), m, examples, metric, &evaluate.Options{MaxErrors: -1})
	if err != nil || report.NoAnswers != 1 || report.Errors != 0 || len(report.Results) != 8 {
		t.Errorf("got %+v, %v", report, err)
	}
	for i, r := range report.Results {
		steps := r.Trajectory.Steps
		if len(steps) == 0 || steps[0].Predictor != "Agent.Module" || r.Usage.Total().Calls != len(steps) ||
			i == 3 && r.Trajectory.Err == nil {
			t.Errorf("example %d has the trajectory %+v", i, r.Trajectory)
		}
	}

	spent := budget.With(t.Context(), budget.Limits{Calls: 5})
	_, err = evaluate.Evaluate(spent, m, examples, metric, &evaluate.Options{MaxErrors: -1, Workers: 1})
	if !errors.Is(err, budget.ErrSpent) || budget.Of(spent).Spent().Calls < 5 || budget.Of(spent).Spent().Calls > 14 {
		t.Errorf("got %v; spent %v", err, budget.Of(spent).Spent())
	}

	steps := budget.With(t.Context(), budget.Limits{Steps: 5})
	if _, err := m.Run(steps, agent.Task{Task: "Look."}); err == nil || !strings.Contains(err.Error(), "do not reach") {
		t.Errorf("got %v", err)
	}

	acting := Module[agent.Task, agent.Answer](agentWith(t, set, Options{}, model), nil, "eval-")
	for want, policy := range map[string]tools.Policy{"tools with effects": nil, "only read": evaluate.Act} {
		_, err = evaluate.Evaluate(t.Context(), acting, examples, metric, &evaluate.Options{Policy: policy})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err = Module[agent.Task, agent.Answer](a, &server{t: t, a: a}, "").Run(t.Context(), agent.Task{Task: "number 3"})
	if !errors.Is(err, module.ErrNoAnswer) {
		t.Errorf("got %v", err)
	}
}

// voting runs an agent several times at once.
type voting struct {
	module.Module[agent.Task, agent.Answer]
}

func (m voting) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	results, err := module.Samples(ctx, m.Module, in, 3, nil)
	if err != nil {
		return nil, err
	}
	return module.Majority(results, nil)
}

// Concurrent parts of a run, and modules that are tools, go on after their worker was killed.
func TestConcurrentModules(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	for name, when := range map[string]func(int) (bool, bool){
		"alive":  func(int) (bool, bool) { return false, false },
		"killed": func(n int) (bool, bool) { return n%3 == 0, n%2 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shop{}
			set := s.set(t)
			model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
				program := `const helped = await help({task: "Help."});
submit({answer: "done" + await buy({of: "a"}) * 0})`
				if strings.Contains(r.Text(), "Help.") && !strings.Contains(r.Text(), "help(") {
					program = `await Promise.all([buy({of: "b"}), look({of: "c"})]); submit({answer: "helped"})`
				}
				return llmtest.Reply{Text: fences([]string{program})[0]}, nil
			})
			helper, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
			if err != nil {
				t.Fatal(err)
			}
			help := module.Tool[agent.Task, agent.Answer]("help", "Helps.", helper, nil)
			all, err := set.Plus(help)
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
			a, err := New[agent.Task, agent.Answer]("bot", voting{bot},
				&Options{Store: journal.NewMemory(), Objects: objects, Tools: all})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.Close)
			got := answer(t, a, killed(t, a, when))
			if want := "buy:a buy:a buy:a buy:b buy:b buy:b"; !strings.Contains(got, "done0") ||
				!strings.HasPrefix(s.String(), want) || strings.Count(s.String(), "buy") != 6 {
				t.Errorf("got %s; the tools did %s", got, s)
			}
		})
	}
}
