package module_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/typescript"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// NewCodeAct logs once that a schema does not compile, and that destructive tools need no approval.
func TestNewCodeActWarns(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(
		t.Context(),
		tools.Func("refund", "Refund.", func(context.Context, struct{}) (int, error) { return 1, nil },
			&tools.Hints{Destructive: true}),
	)
	if err != nil {
		t.Fatal(err)
	}
	invalid, err := tools.NewSet(t.Context(), &tools.Tool{
		Namespace: "s", Name: "x", InputSchema: json.RawMessage(`{"required":true}`),
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		set  *tools.Set
		want string
	}{
		{invalid,
			`level=WARN msg="tool \"x\" of \"s\": its arguments are not checked: input schema: schema: required must ` +
				`be an array, not true"` + "\n"},
		{set,
			`level=WARN msg="destructive tools can be called without approval: refund; add policy.Approve to ` +
				`the set, or policy.AllowDestructive if that is intended"` + "\n"},
		{set.With(policy.AllowDestructive), ""},
		{nil, ""},
	} {
		var log bytes.Buffer
		logger := slog.New(
			slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}),
		)
		model := llmtest.New("```js\nsubmit({total: 1})\n```", "```js\nsubmit({total: 1})\n```")
		act := module.NewCodeAct(adding, model, inProcess(t), test.set, &module.Options{Logger: logger})
		for range 2 {
			mustRun(t, act, orders{Limit: 1})
		}
		if log.String() != test.want {
			t.Errorf("got  %s\nwant %s", log.String(), test.want)
		}
	}
}

// Programs have a constant for every input in the prompt, even for inputs that are not set.
func TestCodeActMissingInputs(t *testing.T) {
	t.Parallel()
	type in struct {
		Limit  *int              `json:"limit,omitempty"`
		Before signature.History `json:"before,omitempty"`
		Photo  *signature.Image  `json:"photo,omitempty"`
	}
	type out struct {
		Got string `json:"got"`
	}
	sig := signature.Must(signature.New[in, out](""))
	model := llmtest.New(
		fence("submit({got: JSON.stringify([limit, limit ?? 3, before, before.length, photo?.mimeType ?? 'none'])})"),
	)
	pred, err := module.NewCodeAct(sig, model, inProcess(t), nil, nil).Run(t.Context(), in{})
	if err != nil || pred.Output.Got != `[null,3,[],0,"none"]` {
		t.Fatalf("got %v, %v", pred, err)
	}
}

// oddlyNamed is a server whose tool names are not identifiers.
func oddlyNamed(t *testing.T) *tools.Set {
	t.Helper()
	tool := func(name, description, input string, answer func() (json.RawMessage, error)) *tools.Tool {
		return &tools.Tool{Namespace: "my server", Name: name, Description: description, InputSchema: json.RawMessage(input),
			Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return answer() }}
	}
	list := tool("list-orders", "List orders.", `{"type": "object", "properties": {"limit": {"type": "integer"}}}`,
		func() (json.RawMessage, error) { return json.RawMessage(`["A-1"]`), nil })
	list.Claimed = tools.Read
	cancel := tool(
		"cancel.order",
		"Cancel an order.",
		`{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}`,
		func() (json.RawMessage, error) {
			return nil, &tools.ToolError{Kind: tools.KindFailed, Message: "it is shipped"}
		},
	)
	send := tool(
		"send/mail",
		"Send a mail.",
		`{"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}`,
		func() (json.RawMessage, error) { return json.RawMessage(`"sent"`), nil },
	)
	return toolSet(t, list, cancel, send)
}

// The model is told the names that programs use, in whichever spelling.
func TestToolNameIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	programs := []string{
		`console.log(my_server, await tools.search("list orders", {server: "my server", declare: true}))`,
		`return await tools.describe(["my server.list-orders", "cancel.order", "my_server[\"send/mail\"]", "my server"])`,
		`await my_server["list-orders"]({limit: "many"})`,
		`await my_server.list_order({})`,
		`await my_server["sendMail"]({})`,
		`try { await my_server["cancel.order"]({id: "A-4"}) } catch (e) { return [e.tool, e.message] }`,
		`const orders = await my_server["list-orders"]({}); await my_server["cancel.order"]({id: "A-4"}, {again: "E1"})`,
		`await my_server["send/mail"]({to: "Mole"}); await my_server["cancel.order"]({id: "A-5"})`,
		`submit({total: 1})`,
	}
	model := llmtest.New(fences(programs)...)
	mustRun(t, module.NewCodeAct(adding, model, inProcess(t), oddlyNamed(t), &module.Options{MaxIters: 20}), anything)
	for i, r := range model.Requests()[1:] {
		told := excerpt.ReplaceAllString(r.Last(), "")
		for _, original := range []string{"list-orders", "cancel.order", "send/mail", "my server"} {
			if strings.Contains(told, original) {
				t.Errorf("after %s, the model is told about %s:\n%s", programs[i], original, told)
			}
		}
		if !strings.Contains(told, "my_server.") {
			t.Errorf("after %s, the model is not told about a tool:\n%s", programs[i], told)
		}
	}
}

// excerpt matches the line of the program that an error shows.
var excerpt = regexp.MustCompile(`(?m)^[0-9]+ \| .*$`)

// Programs may be TypeScript: the prompt says so, and errors show the original source.
func TestCompiler(t *testing.T) {
	t.Parallel()
	compiler, err := typescript.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { compiler.Close() })
	box := openBox(t, sandbox.New, patiently(sandbox.Limits{}))
	sig := signature.Must(signature.Parse("numbers: list[int] -> total: int", "Add them up."))
	model := llmtest.New(
		"```ts\ntype Sum = number;\nconst total: Sum = numbers.reduce((a, b) => a + b);\nsubmit({total: totl});\n```",
		"```ts\ntype Sum = number;\nconst total: Sum = numbers.reduce((a, b) => a + b);\nsubmit({total});\n```",
	)
	in, err := signature.ValuesOf(map[string]any{"numbers": []int{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	pred := mustRun(t, module.NewCodeAct(sig, model, box, nil, &module.Options{Compiler: compiler}), in)
	if total, _ := pred.Output.Get("total"); string(total) != "6" {
		t.Errorf("the total is %s", total)
	}
	asked := model.Requests()
	if system := asked[0].Text(); !strings.Contains(system, compiler.Describe()) ||
		strings.Contains(system, "import, require") {
		t.Errorf("the prompt does not say what programs are:\n%s", system)
	}
	want := "3 | submit({total: totl});"
	if told := pred.Trajectory.Steps[0].Observation; !strings.Contains(told, want) {
		t.Errorf("the model was told\n%s\nwithout\n%s", told, want)
	}
}

// The clock of a program goes on while it computes: it stands still only in durable runs and in sessions.
func TestClockGoesOn(t *testing.T) {
	t.Parallel()
	sig, err := signature.Parse("question -> passed: bool", "Wait.")
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New("```js\nconst t = Date.now(); while (Date.now() < t + 5);\nsubmit({passed: true})\n```")
	mustRun(t, module.NewCodeAct(sig, model, inProcess(t), nil, nil), signature.Values{{Name: "question", JSON: []byte(`"?"`)}})
}
