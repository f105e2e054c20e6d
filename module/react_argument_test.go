package module_test

import (
	"context"
	"strings"
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

// A text may stand for the only argument of a tool, or for the only output, if that is unambiguous. Otherwise nothing
// is called.
func TestTextsAsArguments(t *testing.T) {
	t.Parallel()
	type key struct {
		K string `json:"k"`
	}
	for _, c := range []struct{ tool, args, want string }{
		{"act", `report.txt`, "report.txt"},
		{"act", `'report.txt'`, "report.txt"},
		{"act", "`report.txt`", "report.txt"},
		{"act", "```\na\nb\n```", "a\nb"},
		{"act", `say "yes"`, `say "yes"`},
		{"act('report.txt')", "", "report.txt"},
		{"act(k='report.txt')", "", ""},
		{"act", `k="report.txt"`, ""},
		{"act", `act({"k": "report.txt"})`, "report.txt"},
		{"act", `act("report.txt")`, "report.txt"},
		{"act", `{'k': 'a'}`, "a"},
		{"act", `{"k":"a",}`, "a"},
		{"act", `k: report.txt`, ""},
		{"act", `**k**: report.txt`, ""},
		{"act", `k = report.txt`, ""},
		{"act", `<k>report.txt</k>`, ""},
		{"act", `It is {"k": "report.txt"}.`, ""},
		{"act", `<k>`, ""},
		{"act", `None`, ""},
		{"act(report.txt)", "", ""},
		{"act(a) and then act(b)", "", ""},
		{"act(None)", "", ""},
		{"act(undefined)", "", ""},
		{"act(...)", "", ""},
		{"act(<k>)", "", ""},
		{"act(input.k)", "", ""},
		{"act", `{"k": "a"} // wait, no: "b"`, ""},
		{"act", `{"k": "a"} /* dry run only, do not execute */`, ""},
		{"act", "{\"k\": \"a\"}\n// {\"k\": \"b\"}", ""},
		{`act("a" /* or b? */)`, "", ""},
		{`act(k="a") # or act(k="b")`, "", ""},
		{"act", `act(k="a") # or act(k="b")`, ""},
		{"act", `'a' + 'b'`, ""},
		{"act", `'a' or 'b'`, ""},
		{"act", `f"report-{x}.txt"`, ""},
		{"act", "`report-${x}.txt`", ""},
	} {
		got := ""
		set := toolSet(
			t,
			tools.Func("act", "Acts.", func(_ context.Context, in key) (bool, error) { got += in.K; return true, nil }, nil),
		)
		reply := action(c.tool, c.args)
		if c.args == "" {
			reply = strings.Replace(reply, "[[ ## args ## ]]\n\n\n", "", 1)
		}
		if _, err := module.NewReAct(adding, llmtest.New(reply, submits1), set, nil).
			Run(t.Context(), anything); err != nil ||
			got != c.want {
			t.Errorf("%s, %s: the tool was called with %q, want %q (%v)", c.tool, c.args, got, c.want, err)
		}
	}
}

func TestTextsAsAnswers(t *testing.T) {
	t.Parallel()
	capital := signature.Must(signature.New[orders, struct {
		Answer string `json:"answer"`
	}](""))
	const uncertain = "The submitted answer was not accepted:\nargs must be one JSON object with answer: it is not " +
		"clear which value the text "
	for args, refused := range map[string]string{
		`Paris`:                       "",
		`'Paris'`:                     "",
		`submit({"answer": "Paris"})`: "",
		`submit("Paris")`:             "",
		`answer: Paris`:               `"answer: Paris"`,
		`**answer**: Paris`:           `"**answer**: Paris"`,
		`<answer>Paris</answer>`:      `"<answer>Paris</answer>"`,
	} {
		model := llmtest.New(action("submit", args), action("submit", `{"answer": "Paris"}`))
		pred, err := module.NewReAct(capital, model, nil, nil).Run(t.Context(), anything)
		if err != nil || pred.Output.Answer != "Paris" {
			t.Errorf("%s: got %+v, %v", args, pred, err)
			continue
		}
		steps := pred.Trajectory.Steps
		if asked := len(
			steps,
		) > 1; asked != (refused != "") ||
			asked && !strings.HasPrefix(steps[0].Observation, uncertain+refused+" gives") {
			t.Errorf("%s: %d steps, %s", args, len(steps), steps[0].Observation)
		}
	}
}
