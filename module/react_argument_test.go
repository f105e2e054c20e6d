package module_test

import (
	"context"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Words such as TBD are passed to tools whose schema allows them.
func TestReActWordsAsArguments(t *testing.T) {
	t.Parallel()
	type task struct {
		Title string   `json:"title"`
		State string   `json:"state"          jsonschema:"enum=todo,enum=done"`
		Tags  []string `json:"tags,omitempty"`
	}
	type sorted struct {
		State string `json:"state" jsonschema:"enum=todo,enum=done"`
	}
	call := `{"title":"Call Ann","state":"todo","tags":["TBD","string"]}`
	for _, c := range []struct {
		adapter        module.Adapter
		calls, submits string
	}{
		{module.Markers(), action("create_task", call), action("submit", `{"state":"todo"}`)},
		{module.JSON(), `{"thought":"It is new.","tool":"create_task","args":` + call + `}`,
			`{"thought":"It is done.","tool":"submit","args":{"state":"todo"}}`},
	} {
		var got []task
		set := toolSet(
			t,
			tools.Func(
				"create_task",
				"Makes a task.",
				func(_ context.Context, in task) (bool, error) { got = append(got, in); return true, nil },
				nil,
			),
		)
		sig := signature.Must(signature.New[orders, sorted](""))
		pred, err := module.NewReAct(sig, llmtest.New(c.calls, c.submits), set, &module.Options{Adapter: c.adapter}).
			Run(t.Context(), anything)
		if err != nil || pred.Output.State != "todo" || len(got) != 1 || got[0].State != "todo" || len(got[0].Tags) != 2 {
			t.Errorf("%T: %+v, %v", c.adapter, got, err)
		}
	}
}
