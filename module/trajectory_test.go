package module_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Nothing that a model or a tool wrote controls the terminal on which a trajectory or an error is shown.
func TestTrajectoryIsDisplayable(t *testing.T) {
	t.Parallel()
	const evil, shown = "a\n\x1b[2J\u202e\u009b\r\u2028\xff", "a\n" + `\u001b[2J\u202e\u009b\u000d\u2028` + "\ufffd"
	failed := sandbox.Call{Tool: "t", Args: []byte(`"` + evil + `"`), Error: &tools.ToolError{Message: evil}}
	trajectory := module.Trajectory{Err: errors.New(evil), Fallback: evil, Steps: []module.Step{{
		Reasoning: evil, Code: evil, Model: evil, Observation: evil,
		Outcome: &sandbox.Outcome{Calls: []sandbox.Call{failed}, Failure: &sandbox.Failure{Finding: sandbox.Finding{
			Message: evil}}},
	}}}
	incomplete := &module.IncompleteError{Err: errors.New(evil), Trajectory: trajectory}
	for _, text := range []string{
		trajectory.String(), incomplete.Error(), trajectory.LogValue().String(),
	} {
		if strings.ContainsAny(text, "\x1b\u202e\u009b\r\u2028") || !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
	}
	if got := incomplete.Error(); got != "module: no answer after 1 step: "+shown {
		t.Errorf("got %q", got)
	}
}

// The trajectory has the answer, in whatever way it was given.
func TestTrajectoryAnswer(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	extracting := &module.Options{MaxIters: 1, Extract: true}
	for name, c := range map[string]struct {
		m    module.Module[orders, sum]
		want string
	}{
		"reply":     {module.NewPredict(adding, total1(), nil), `{"total":1}`},
		"submitted": {module.NewCodeAct(adding, llmtest.New(submit1), box, nil, nil), `{"total":1}`},
		"value":     {module.NewProgramOfThought(adding, llmtest.New(fence(`({total: 1})`)), box, nil), `{"total":1}`},
		"extracted": {module.NewCodeAct(adding, llmtest.New(fence("1"), `{"total": 1}`), box, nil, extracting),
			`{"total":1}`},
		"by ReAct":  {module.NewReAct(adding, llmtest.New("?", "?", `{"total": 1}`), nil, extracting), `{"total":1}`},
		"no answer": {module.NewCodeAct(adding, llmtest.New(fence("1")), box, nil, &module.Options{MaxIters: 1}), ""},
		"invalid": {module.NewCodeAct(adding, llmtest.New(fence(`submit({total: "x"})`), fence(`submit({total: "x"})`)),
			box, nil, &module.Options{MaxIters: 1}), `{"total":"x"}`},
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

// An empty value is not taken for the answer, even if it would be valid.
func TestProgramOfThoughtNothingGiven(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.New[orders, maybe]("Add up."))
	model := llmtest.New(fence(`({})`), fence(`({total: null})`), fence(`({total: 2})`))
	pred, err := module.NewProgramOfThought(sig, model, inProcess(t), nil).Run(t.Context(), anything)
	if err != nil || pred.Output.Total == nil || *pred.Output.Total != 2 {
		t.Errorf("got %+v, %v", pred, err)
	}
	pred, err = module.NewProgramOfThought(sig, llmtest.New(fence(`submit({})`)), inProcess(t), nil).Run(t.Context(),
		anything)
	if err != nil || pred.Output.Total != nil {
		t.Errorf("submitted: got %+v, %v", pred, err)
	}
}

// The text of a tool's error is bounded. The error itself is complete.
func TestIncompleteErrorIsBounded(t *testing.T) {
	t.Parallel()
	long := errors.New(strings.Repeat("x", 3<<20))
	set := toolSet(t, tools.Func("pay", "", func(context.Context, struct{}) (int, error) { return 0, tools.Fatal(long) },
		nil))
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

// An answer of the wrong shape in the last step gets one more step, with the form of the call. An
// answer that violates a rule does not.
func TestCodeActLastAnswerOfWrongShape(t *testing.T) {
	t.Parallel()
	type report struct {
		Total int      `json:"total" jsonschema:"minimum=0"`
		Names []string `json:"names"`
	}
	sig := signature.Must(signature.New[orders, report]("Add up."))
	right, wrong, low := fence(`submit({total: 1, names: []})`), fence(`submit({sum: 1, people: ["Ann"], list: 3})`),
		fence(`submit({total: -1, names: []})`)
	one := &module.Options{MaxIters: 1}
	for _, m := range []*module.CodeAct[orders, report]{
		module.NewCodeAct(sig, llmtest.New(wrong, right), inProcess(t), nil, one),
	} {
		pred, err := m.Run(t.Context(), anything)
		if err != nil || pred.Output.Total != 1 {
			t.Fatalf("got %+v, %v", pred, err)
		}
		want := "The submitted answer was not accepted.\nSubmit it in this form, with your values: submit({total: 1, " +
			"names: [\"…\"]})\n" +
			"\nOne program is left: submit, and say in the answer what is missing or uncertain."
		if got := pred.Trajectory.Steps[0].Observation; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	for name, replies := range map[string][]string{"twice": {wrong, wrong}, "a rule": {low}} {
		if _, err := module.NewCodeAct(sig, llmtest.New(replies...), inProcess(t), nil, one).Run(t.Context(),
			anything); !errors.Is(err, module.ErrMaxIters) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A bare value is the answer if there is one output. A number is accepted for an output that is
// text.
func TestCodeActBareAnswers(t *testing.T) {
	t.Parallel()
	type text struct {
		Price string `json:"price"`
	}
	priced := signature.Must(signature.New[orders, text]("Look it up."))
	for _, program := range []string{`submit(3860.03)`, `submit("3860.03")`, `submit({price: 3860.03})`} {
		pred, err := module.NewCodeAct(priced, llmtest.New(fence(program)), inProcess(t), nil, nil).Run(t.Context(), anything)
		if err != nil || pred.Output.Price != "3860.03" {
			t.Errorf("%s: got %+v, %v", program, pred, err)
		}
	}
}

// The prediction tells which attempt was the best, its score and its reasoning.
func TestTrajectoryChosen(t *testing.T) {
	t.Parallel()
	model := llmtest.New(
		`{"reasoning": "one", "total": 1}`, `{"reasoning": "three", "total": 3}`, `{"reasoning": "two", "total": 2}`)
	larger := func(_ context.Context, _ orders, pred *module.Prediction[sum]) (module.Score, error) {
		return module.Score{Value: float64(pred.Output.Total), Feedback: "more"}, nil
	}
	pred := mustRun(t, module.NewRefine(module.NewChainOfThought(adding, model, nil), 3, larger, 9, nil), anything)
	got := pred.Trajectory
	if got.Chosen != 2 || got.Runs[1].Score.Value != 3 || got.Reasoning() != "three" ||
		string(got.Answer()) != `{"total":3}` || got.Usage().Calls != 3 {
		t.Errorf("attempt %d was chosen, with score %v: %q, %s", got.Chosen, got.Runs[1].Score, got.Reasoning(), got.Answer())
	}
}
