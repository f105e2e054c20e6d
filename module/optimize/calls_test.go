package optimize_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/tools"
)

// shuffled asks its predictor three questions in a given order, as if they came in it by chance.
type shuffled struct {
	Sub   predict
	order []int
}

func (m *shuffled) Run(ctx context.Context, in question) (*module.Prediction[answer], error) {
	var answers [3]answer
	for _, i := range m.order {
		pred, err := m.Sub.Run(ctx, question{in.Number + 1000*i})
		if err != nil {
			return nil, err
		}
		answers[i] = pred.Output
	}
	return &module.Prediction[answer]{Output: answers[0]}, nil
}

// The order in which concurrent calls arrive changes neither a search nor how it continues.
func TestOrderOfCalls(t *testing.T) {
	t.Parallel()
	for _, by := range []optimize.Optimizer{optimize.BootstrapFewShot{MaxLabeled: -1}, optimize.GEPA{Iterations: 5}} {
		student := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			n, err := strconv.Atoi(inputOf(r.Last(), "number"))
			if err != nil || n%2 > 0 {
				return reply("text", "unknown"), err
			}
			return reply("text", nameOf(n)), nil
		})
		advisor := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: fmt.Sprint("Advice ", r.N)}, nil
		})
		dir, want, paid := t.TempDir(), "", 0
		for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
			r, err := optimize.Run(t.Context(), &shuffled{module.NewPredict(spelled, student, nil), order}, by,
				data{Train: numbers(0, 8), Val: numbers(101, 107)}, right, &optimize.Options{Dir: dir, Reflection: advisor})
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(r.Candidates)
			if err != nil {
				t.Fatal(err)
			}
			calls := len(student.Requests()) + len(advisor.Requests())
			if want == "" {
				want, paid = string(got), calls
			}
			if string(got) != want || calls != paid {
				t.Errorf("%T, order %v: %d calls, want %d\ngot  %s\nwant %s", by, order, calls, paid, got, want)
			}
		}
	}
}

// asksTool returns a module that asks another one, which is a tool, and its model.
func asksTool(t *testing.T) (*module.ReAct[question, answer], *llmtest.Model) {
	t.Helper()
	set, err := tools.NewSet(t.Context(), module.Tool("spell", "Names a number.", module.Module[question, answer](
		newStudent()), &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if _, told, ok := strings.Cut(r.Last(), "spell returned:\n"); ok {
			return reply("thought", "Done.", "tool", "submit", "args", told[:strings.Index(told, "}")+1]), nil
		}
		return reply("thought", "Ask.", "tool", "spell", "args", `{"number":`+inputOf(r.Last(), "number")+`}`), nil
	})
	return module.NewReAct(spelled, model, set, nil), model
}

// A module behind a tool learns from examples of its own calls.
func TestModuleInTool(t *testing.T) {
	t.Parallel()
	m, model := asksTool(t)
	teacher := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Text(), "thought") {
			c, err := model.GenerateContent(ctx, r.Messages)
			return llmtest.Reply{Text: c.Choices[0].Content}, err
		}
		n, err := strconv.Atoi(inputOf(r.Last(), "number"))
		return reply("text", nameOf(n)), err
	})
	r, err := optimize.Run(t.Context(), m,
		optimize.BootstrapFewShot{MaxBootstrapped: 14, MaxLabeled: -1}, numbersData(), right,
		&optimize.Options{Teacher: teacher})
	if err != nil {
		t.Fatal(err)
	}
	demos := map[string]int{}
	for path, p := range module.Predictors(r.Module) {
		demos[path] = len(p.Demos)
	}
	if r.Candidates[0].Score != 0 || r.Best.Score != 1 || demos["Tools[spell]"] == 0 {
		t.Errorf("the score was %v and is %v; demos %v", r.Candidates[0].Score, r.Best.Score, demos)
	}
}

// GEPA improves the instructions of a module behind a tool.
func TestInstructionsInTool(t *testing.T) {
	t.Parallel()
	m, _ := asksTool(t)
	reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "```\nName the number by sevenths.\n```"}, nil
	})
	r, err := optimize.Run(t.Context(), m, optimize.GEPA{Iterations: 10}, numbersData(), right,
		&optimize.Options{Reflection: reflection, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Best.Instructions("Tools[spell]"); r.Best.Score != 1 || !strings.Contains(got, "sevenths") {
		t.Errorf("the score is %v with the instructions %q", r.Best.Score, got)
	}
}
