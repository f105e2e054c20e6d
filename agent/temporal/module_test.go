package temporal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
)

// server is a client whose workflows run at once, in the test environment. Every second activity fails as if its worker
// was killed.
type server struct {
	client.Client
	t *testing.T
	a *Agent
}

func (s *server) ExecuteWorkflow(
	_ context.Context, o client.StartWorkflowOptions, workflow any, args ...any,
) (client.WorkflowRun, error) {
	env := killed(s.t, s.a, func(n int) (dies, lost bool) { return false, n%2 == 0 })
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

	acting := agentWith(t, set, Options{}, model)
	_, err = evaluate.Evaluate(t.Context(), Module[agent.Task, agent.Answer](acting, &server{t: t, a: acting}, "eval-"),
		examples, metric, nil)
	if err == nil || !strings.Contains(err.Error(), "only read") {
		t.Errorf("got %v", err)
	}
	_, err = Module[agent.Task, agent.Answer](a, &server{t: t, a: a}, "").Run(t.Context(), agent.Task{Task: "number 3"})
	if !errors.Is(err, module.ErrNoAnswer) {
		t.Errorf("got %v", err)
	}
}
