package module_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// TestToolsOfModules lists the tools of modules, and replaces one of them for a run.
func TestToolsOfModules(t *testing.T) {
	t.Parallel()
	type none struct{}
	type answer struct {
		Text string `json:"text"`
	}
	set := toolSet(t, tools.Func("send", "Send it.",
		func(context.Context, none) (string, error) { t.Error("it was sent"); return "", nil }, nil))
	box := openBox(t, sandbox.New, nil)
	sig := signature.Must(signature.New[struct{ Q string }, answer]("Answer."))
	type both struct {
		Code  *module.CodeAct[struct{ Q string }, answer]
		Calls *module.ReAct[struct{ Q string }, answer]
	}
	model := llmtest.New("```js\nsubmit({text: await send({})})\n```")
	m := module.Clone(both{module.NewCodeAct(sig, model, box, set, nil), module.NewReAct(sig, model, set, nil)})
	var found []string
	for path, b := range module.Tools(m) {
		found = append(found, path+" "+b.Path())
	}
	if !slices.Equal(found, []string{"Code send", "Calls send"}) {
		t.Errorf("got %q", found)
	}
	ctx := tools.WithPolicies(t.Context(), func(tools.Caller) tools.Caller {
		return tools.CallerFunc(func(context.Context, tools.Call) (json.RawMessage, error) {
			return json.RawMessage(`"recorded"`), nil
		})
	})
	if pred, err := m.Code.Run(ctx, struct{ Q string }{"?"}); err != nil || pred.Output.Text != "recorded" {
		t.Errorf("got %+v, %v", pred, err)
	}
}
