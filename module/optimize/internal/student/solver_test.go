package student_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/optimize/internal/student"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

type (
	asked struct {
		Request string `json:"request"`
	}
	found struct {
		Facts string `json:"facts"`
	}
	answered struct {
		Answer string `json:"answer"`
	}
)

// solver answers the tasks of the simulated student, in one step, in two, or with programs.
type solver struct {
	One   *module.Predict[asked, answered]
	Act   *module.CodeAct[asked, answered]
	Find  *module.Predict[asked, found]
	Write *module.Predict[found, answered]
}

func newSolver(t *testing.T, task student.Benchmark) *solver {
	t.Helper()
	model, instructions := task.Model(), task.Instructions()
	switch ledger, isAgent := task.(student.Ledger); {
	case isAgent:
		return &solver{Act: newAgent(t, ledger)}
	case len(instructions) == 1:
		return &solver{One: module.NewPredict(
			signature.Must(signature.New[asked, answered](instructions[0])), model, nil)}
	}
	return &solver{
		Find:  module.NewPredict(signature.Must(signature.New[asked, found](instructions[0])), model, nil),
		Write: module.NewPredict(signature.Must(signature.New[found, answered](instructions[1])), model, nil),
	}
}

func newAgent(t *testing.T, ledger student.Ledger) *module.CodeAct[asked, answered] {
	t.Helper()
	box, err := sandbox.NewInProcess(&sandbox.Options{Limits: sandbox.Limits{Time: time.Hour, Compute: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	set, err := ledger.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sig := signature.Must(signature.New[asked, answered](ledger.Instructions()[0]))
	return module.NewCodeAct(sig, ledger.Model(), box, set, nil)
}

func (s *solver) Run(ctx context.Context, in asked) (*module.Prediction[answered], error) {
	switch {
	case s.One != nil:
		return s.One.Run(ctx, in)
	case s.Act != nil:
		return s.Act.Run(ctx, in)
	}
	facts, err := s.Find.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	pred, err := s.Write.Run(ctx, facts.Output)
	if err != nil {
		return nil, err
	}
	return &module.Prediction[answered]{Output: pred.Output}, nil
}

// exact returns a metric for a task. The feedback on a wrong answer is what was expected, and words about it.
func exact(task student.Benchmark) evaluate.Metric[asked, answered] {
	return func(
		_ context.Context, e evaluate.Example[asked, answered], got *module.Prediction[answered],
	) (module.Score, error) {
		if got.Output == e.Want {
			return module.Score{Value: 1, Feedback: "The answer is right."}, nil
		}
		row := student.Row{ID: e.ID, Request: e.In.Request, Answer: e.Want.Answer, Note: e.Note}
		return module.Score{Feedback: fmt.Sprintf("The answer is wrong. Expected: %s\n%s", e.Want.Answer,
			task.Feedback(row, got.Output.Answer))}, nil
	}
}
