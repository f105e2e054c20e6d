package module_test

import (
	"context"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
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
