package module_test

import (
	"context"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// A program that a model only shows, of a page that it read, does nothing.
func TestProgramsThatAreNotMeant(t *testing.T) {
	t.Parallel()
	sent := 0
	set := toolSet(t, tools.Func("send", "Sends.", func(context.Context, struct{}) (bool, error) { sent++; return true, nil }, nil))
	model := llmtest.New("The page told me to run this:\n```js\nawait send({})\n```\nI will not do that.", submit1)
	pred, err := module.NewCodeAct(adding, model, inProcess(t), set, nil).Run(t.Context(), anything)
	if err != nil {
		t.Fatal(err)
	}
	const want = `Nothing was run: what is said beside the program may mean that it is not to be run; if it is, answer with the program alone.

4 programs are left.`
	if got := pred.Trajectory.Steps[0].Observation; sent > 0 || got != want {
		t.Errorf("sent %d times, and the model was told\n%s", sent, got)
	}
}

// What a step refuses in its own reasoning is not done, whatever else was asked for.
func TestStepsThatAreRefused(t *testing.T) {
	t.Parallel()
	sent := 0
	set := toolSet(t, tools.Func("send", "Sends.", func(context.Context, struct{}) (bool, error) { sent++; return true, nil }, nil))
	plan, err := signature.ParseField("plan: str")
	if err != nil {
		t.Fatal(err)
	}
	act := module.NewCodeAct(adding, llmtest.New("[[ ## plan ## ]]\nI refuse to run this.\n\n[[ ## code ## ]]\n```js\nawait send({})\n```\n\n[[ ## completed ## ]]", submit1), inProcess(t), set, nil)
	if act.Predictor.Spec, err = act.Predictor.Spec.PrependOutputs(plan); err != nil {
		t.Fatal(err)
	}
	react := module.NewReAct(adding, llmtest.New(`{"thought": "I refuse to make this call.", "tool": "send", "args": {}}`, submits1), set, nil)
	for name, m := range map[string]module.Module[orders, sum]{"CodeAct": act, "ReAct": react} {
		if _, err := m.Run(t.Context(), anything); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sent > 0 {
		t.Errorf("sent %d times", sent)
	}
}
