package module_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// The trajectory has the answer, however it was given.
func TestTrajectoryAnswer(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	extracting := &module.Options{MaxIters: 1, Extract: true}
	for name, c := range map[string]struct {
		m    module.Module[orders, sum]
		want string
	}{
		"reply":      {module.NewPredict(adding, total1(), nil), `{"total":1}`},
		"submitted":  {module.NewCodeAct(adding, llmtest.New(submit1), box, nil, nil), `{"total":1}`},
		"value":      {module.NewProgramOfThought(adding, llmtest.New(fence(`({total: 1})`)), box, nil), `{"total":1}`},
		"extracted":  {module.NewCodeAct(adding, llmtest.New(fence("1"), `{"total": 1}`), box, nil, extracting), `{"total":1}`},
		"by ReAct":   {module.NewReAct(adding, llmtest.New("?", `{"total": 1}`), nil, extracting), `{"total":1}`},
		"not at all": {module.NewCodeAct(adding, llmtest.New(fence("1")), box, nil, &module.Options{MaxIters: 1}), ""},
		"invalid":    {module.NewCodeAct(adding, llmtest.New(fence(`submit({total: "x"})`), fence(`submit({total: "x"})`)), box, nil, &module.Options{MaxIters: 1}), `{"total":"x"}`},
		"an attempt": {module.NewBestOfN(module.NewPredict(adding, total1(), nil), 1, never, 1, nil), `{"total":1}`},
	} {
		pred, err := c.m.Run(t.Context(), anything)
		trajectory := module.Result[sum]{Prediction: pred, Err: err}.Trajectory()
		if got := strings.ReplaceAll(string(trajectory.Answer()), " ", ""); got != c.want {
			t.Errorf("%s: got %s, want %s: %v", name, got, c.want, err)
		}
	}
}

type maybe struct {
	Total *int `json:"total,omitempty"`
}

// A value in which there is nothing is not the answer, though it would be valid.
func TestProgramOfThoughtNothingGiven(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.New[orders, maybe]("Add up."))
	model := llmtest.New(fence(`({})`), fence(`({total: null})`), fence(`({total: 2})`))
	pred, err := module.NewProgramOfThought(sig, model, inProcess(t), nil).Run(t.Context(), anything)
	if err != nil || pred.Output.Total == nil || *pred.Output.Total != 2 {
		t.Errorf("got %+v, %v", pred, err)
	}
	pred, err = module.NewProgramOfThought(sig, llmtest.New(fence(`submit({})`)), inProcess(t), nil).Run(t.Context(), anything)
	if err != nil || pred.Output.Total != nil {
		t.Errorf("submitted: got %+v, %v", pred, err)
	}
}

// The text of an error is bounded, whatever a tool's is; the error itself is whole.
func TestIncompleteErrorIsBounded(t *testing.T) {
	t.Parallel()
	long := errors.New(strings.Repeat("x", 3<<20))
	set := toolSet(t, tools.Func("pay", "", func(context.Context, struct{}) (int, error) { return 0, tools.Fatal(long) }, nil))
	for _, m := range []module.Module[orders, sum]{
		module.NewReAct(adding, llmtest.New(action("pay", `{}`)), set, nil),
		module.NewCodeAct(adding, llmtest.New(fence(`await pay({})`)), inProcess(t), set, nil),
	} {
		_, err := m.Run(t.Context(), anything)
		if !errors.Is(err, long) || len(err.Error()) > 2100 {
			t.Errorf("%T: a text of %d bytes", m, len(err.Error()))
		}
	}
}
