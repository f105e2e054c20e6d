package optimize_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/tools"
)

type line struct {
	Messages []struct {
		Role      string
		Content   string
		Weight    *int
		ToolCalls []struct {
			Function llms.FunctionCall
		} `json:"tool_calls"`
	}
	Tools []any
}

// roles writes a line in brief: the roles, in brackets if they have no weight.
func (l line) roles() string {
	var list []string
	for _, m := range l.Messages {
		role := m.Role
		if m.Weight != nil {
			role = "(" + role + ")"
		}
		list = append(list, role)
	}
	return strings.Join(list, " ")
}

func linesOf(t *testing.T, text string) (list []line) {
	t.Helper()
	for row := range strings.Lines(text) {
		var l line
		if err := json.Unmarshal([]byte(row), &l); err != nil {
			t.Fatal(err)
		}
		list = append(list, l)
	}
	return list
}

func TestWriteChats(t *testing.T) {
	t.Parallel()
	asked := 0
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		asked++
		if asked == 1 {
			return llmtest.Reply{Text: "[[ ## text ## ]]\nba", StopReason: "length"}, nil
		}
		return reply("text", nameOf(100)), nil
	})
	m := module.NewPredict(spelled, model, nil)
	demo, err := module.NewDemo(spelled, question{1}, answer{"baba"})
	if err != nil {
		t.Fatal(err)
	}
	m.Predictor.Demos = []module.Demo{demo}
	report, err := evaluate.Evaluate(t.Context(), m, numbers(100, 102), right, &evaluate.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	saved, _ := json.Marshal(report)
	var read evaluate.Report
	if err := json.Unmarshal(saved, &read); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*evaluate.Report{report, &read} {
		var b bytes.Buffer
		n, err := optimize.WriteChats(&b, optimize.Good(r, 1))
		lines := linesOf(t, b.String())
		if err != nil || n != 1 || len(lines) != 1 {
			t.Fatalf("%d lines, %v", n, err)
		}
		want := "system user (assistant) user (assistant) user assistant"
		if got := lines[0].roles(); got != want || !strings.Contains(lines[0].Messages[6].Content, nameOf(100)) {
			t.Errorf("got %s, want %s", got, want)
		}
		b.Reset()
		if n, err := optimize.WriteChats(&b, optimize.Good(r, 0), "Sort"); n != 0 || err != nil {
			t.Errorf("%d lines of another predictor, %v", n, err)
		}
	}
	if n, err := optimize.WriteChats(fullDisk{}, optimize.Good(report, 0)); n != 0 || err == nil {
		t.Errorf("%d lines, %v", n, err)
	}
}

// fullDisk is a disk without space.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestWriteChatsWithTools(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), tools.Func("find", "Finds a name.",
		func(_ context.Context, q question) (string, error) { return nameOf(q.Number), nil },
		&tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, args string) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llms.ToolCall{{
			ID: "1", Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args},
		}}}
	}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N == 1 {
			return call("find", `{"number":5}`), nil
		}
		return call("submit", fmt.Sprintf(`{"text":%q}`, nameOf(5))), nil
	}).With(models.Capabilities{Tools: true})
	pred, err := module.NewReAct(spelled, model, set, nil).Run(t.Context(), question{5})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if n, err := optimize.WriteChats(&b, []module.Trajectory{pred.Trajectory}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	l := linesOf(t, b.String())[0]
	if l.roles() != "system user assistant tool assistant" || len(l.Tools) != 2 {
		t.Errorf("got %s", b.String())
	}
	for i, want := range map[int]string{2: `find {"number":5}`, 4: `submit {"text":"bababababababa"}`} {
		if len(l.Messages[i].ToolCalls) != 1 {
			t.Fatalf("message %d has no call: %s", i, b.String())
		}
		f := l.Messages[i].ToolCalls[0].Function
		if got := f.Name + " " + f.Arguments; got != strings.ReplaceAll(want, "bababababababa", nameOf(5)) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
