package module_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
)

// The model is told about failures that cannot be seen in the program.
func TestObservationsOnFailures(t *testing.T) {
	t.Parallel()
	fails := func(name string, data json.RawMessage) tools.Source {
		return tools.Func(name, "", func(context.Context, orders) (int, error) {
			return 0, &tools.ToolError{Message: "no such key", Data: data}
		}, &tools.Hints{Class: tools.Read})
	}
	count := tools.Func("count", "", func(_ context.Context, o orders) (orders, error) { return o, nil },
		&tools.Hints{Class: tools.Read})
	set := toolSet(t, count, fails("find", json.RawMessage(`{"valid":["x","y"]}`)),
		fails("list", json.RawMessage(`"`+strings.Repeat("z", 3000)+`"`)), fails("look", nil))
	for program, want := range map[string]string{
		`await find({limit: 1})`: `The program failed: line 1, column 7: ToolError: find: no such key
1 | await find({limit: 1})
  |       ^

The error's data:
{"valid":["x","y"]}

Failed reads:
- find({"limit":1}) → no such key`,
		`await look({limit: 1})`: `The program failed: line 1, column 7: ToolError: look: no such key
1 | await look({limit: 1})
  |       ^

Failed reads:
- look({"limit":1}) → no such key`,
		`await list({limit: 1})`: `The program failed: line 1, column 7: ToolError: list: no such key
1 | await list({limit: 1})
  |       ^

The error's data:
"` + strings.Repeat("z", 3000) + `"

Failed reads:
- list({"limit":1}) → no such key`,
		`submit({total: 0 / 0})`: `The submitted answer was not accepted:
total must be an integer, not null
Submit it in this form, with your values: submit({total: 1})

Warnings:
in the answer, total is NaN. JSON has no such value: submit the right one, or null if there is none.`,
		`submit({total: "one"})`: `The submitted answer was not accepted:
total must be an integer, not "one"
Submit it in this form, with your values: submit({total: 1})`,
		`async function main() { return 1 }`: `The program finished, but it showed nothing. End it with an expression,` +
			` print something, or submit the answer. main is never used. If it is the function to run, add await main() ` +
			`at the end.`,
		`const o = count({limit: 1}); o.limit`: `The program finished, but it showed nothing. End it with an expression, print something, or submit the answer.

Warnings:
line 1, column 32: the promise o is read, not its result (on line 1, write await count(…))`,
	} {
		pred, err := module.NewCodeAct(adding, llmtest.New(fence(program), submit1), inProcess(t), set,
			nil).Run(t.Context(), anything)
		if err != nil {
			t.Errorf("%s: %v", program, err)
		} else if got := pred.Trajectory.Steps[0].Observation; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
