package module_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// With too many tools to declare, the question declares those that match it. The system prompt does not depend on it.
func TestMatchingTools(t *testing.T) {
	t.Parallel()
	var list []tools.Source
	for i := range 600 {
		list = append(list, &tools.Tool{
			Namespace: "erp", Name: fmt.Sprintf("get_thing%d", i), Description: "Get a thing.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
			Handler:     func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
		})
	}
	set := toolSet(t, list...)
	sig := signature.Must(signature.Parse("question -> answer", "Answer."))
	model := llmtest.New("```js\nsubmit({answer: 'a'})\n```", "```js\nsubmit({answer: 'b'})\n```")
	box := openBox(t, sandbox.New, patiently(sandbox.Limits{}))
	act := module.NewCodeAct(sig, model, box, set, nil)
	for _, question := range []string{"How old is thing17?", "Why?"} {
		in := signature.Values{{Name: "question", JSON: json.RawMessage(`"` + question + `"`)}}
		mustRun(t, act, in)
	}
	first, second := model.Requests()[0], model.Requests()[1]
	const want = "Tools that may fit, declared:\n```ts\ndeclare const erp: {\n  /** Get a thing. */\n" +
		"  get_thing17(args: {id: string}): Promise<string | Content>;\n};\n```\n\n[[ ## question ## ]]\n"
	if got := first.Last(); !strings.HasPrefix(got, want) {
		t.Errorf("the question is\n%s", got)
	}
	if got := second.Last(); !strings.HasPrefix(got, "[[ ## question ## ]]") {
		t.Errorf("the question is\n%s", got)
	}
	if fmt.Sprint(first.Messages[0]) != fmt.Sprint(second.Messages[0]) {
		t.Error("the system prompts differ")
	}
}
