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

// What a program is told that cannot be seen in it.
func TestToldOfFailures(t *testing.T) {
	t.Parallel()
	fails := func(name string, data json.RawMessage) tools.Source {
		return tools.Func(name, "", func(context.Context, orders) (int, error) {
			return 0, &tools.ToolError{Message: "no such key", Data: data}
		}, &tools.Hints{Class: tools.Read})
	}
	count := tools.Func("count", "", func(_ context.Context, o orders) (orders, error) { return o, nil }, &tools.Hints{Class: tools.Read})
	set := toolSet(t, count, fails("find", json.RawMessage(`{"valid":["x","y"]}`)), fails("list", json.RawMessage(`"`+strings.Repeat("z", 3000)+`"`)), fails("look", nil))
	for program, want := range map[string]string{
		`await find({limit: 1})`: `The program failed: line 1, column 7: ToolError: find: no such key
1 | await find({limit: 1})
  |       ^

find said besides: {"valid":["x","y"]}

It could not read:
- find({"limit":1}) → tool find: no such key

7 programs are left.`,
		`await look({limit: 1})`: `The program failed: line 1, column 7: ToolError: look: no such key
1 | await look({limit: 1})
  |       ^

It could not read:
- look({"limit":1}) → tool look: no such key

7 programs are left.`,
		`await list({limit: 1})`: `The program failed: line 1, column 7: ToolError: list: no such key
1 | await list({limit: 1})
  |       ^

list said besides: "` + strings.Repeat("z", 1999) + `… (3002 bytes)

It could not read:
- list({"limit":1}) → tool list: no such key

7 programs are left.`,
		`submit({total: 0 / 0})`: `The submitted answer was not accepted:
total must be an integer, not null
Submit it in this form, with your values: submit({total: 1})
NaN and Infinity have no form in JSON and become null.

7 programs are left.`,
		`submit({total: "one"})`: `The submitted answer was not accepted:
total must be an integer, not "one"
Submit it in this form, with your values: submit({total: 1})

7 programs are left.`,
		`const o = count({limit: 1}); o.limit`: `The program ran to its end. It gave no value and printed nothing, so there is nothing to see; end with an expression, print, or submit the answer.

Warnings:
line 1, column 11: o is a promise: await count(…) before reading limit (write await before it)

7 programs are left.`,
	} {
		pred, err := module.NewCodeAct(adding, llmtest.New(fence(program), submit1), inProcess(t), set, nil).Run(t.Context(), anything)
		if err != nil {
			t.Errorf("%s: %v", program, err)
		} else if got := pred.Trajectory.Steps[0].Observation; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
