package student_test

import (
	"context"
	"fmt"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/optimize/internal/student"
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

// solver answers the tasks of the simulated student, in one step or in two.
type solver struct {
	One   *module.Predict[asked, answered]
	Find  *module.Predict[asked, found]
	Write *module.Predict[found, answered]
}

func newSolver(task *student.Task) *solver {
	model := task.Model()
	if len(task.Steps) == 1 {
		return &solver{One: module.NewPredict(
			signature.Must(signature.New[asked, answered](task.Steps[0].Instructions)), model, nil)}
	}
	return &solver{
		Find: module.NewPredict(
			signature.Must(signature.New[asked, found](task.Steps[0].Instructions)), model, nil),
		Write: module.NewPredict(
			signature.Must(signature.New[found, answered](task.Steps[1].Instructions)), model, nil),
	}
}

func (s *solver) Run(ctx context.Context, in asked) (*module.Prediction[answered], error) {
	if s.One != nil {
		return s.One.Run(ctx, in)
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

// exact scores the answers of the tasks. The feedback on a wrong answer is what was expected, and the note of the
// example.
func exact(
	_ context.Context, e evaluate.Example[asked, answered], got *module.Prediction[answered],
) (module.Score, error) {
	if got.Output == e.Want {
		return module.Score{Value: 1, Feedback: "The answer is right."}, nil
	}
	return module.Score{Feedback: fmt.Sprintf("The answer is wrong. Expected: %s\n%s", e.Want.Answer, e.Note)}, nil
}
