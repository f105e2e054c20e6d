package module_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
)

func adder() *tools.Tool {
	return tools.Func("add", "Adds.", func(_ context.Context, in struct{ A, B int }) (int, error) {
		if in.A < 0 {
			return 0, errors.New("below zero")
		}
		return in.A + in.B, nil
	}, &tools.Hints{Class: tools.Read})
}

// ReAct calls tools in the provider's protocol, several in one step. In later turns, the provider's
// own message is sent back.
func TestReActCallsTools(t *testing.T) {
	t.Parallel()
	call := func(id, name, args string) stub.ToolCall { return stub.ToolCall{ID: id, Name: name, Arguments: args} }
	for protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			thinking := "Hm."
			if protocol == "openai" { // its chat completions do not show thinking
				thinking = ""
			}
			model, server := openStub(t, protocol, nil,
				stub.Reply{Text: "First both sums.", Thinking: thinking, ToolCalls: []stub.ToolCall{
					call("c1", "add", `{"A": 1, "B": 2}`), call("c2", "add", `{"A": -1, "B": 2}`)}},
				stub.Reply{Text: "That is all."},
				stub.Reply{ToolCalls: []stub.ToolCall{call("c3", "submit", `{"total": "many"}`)}},
				stub.Reply{ToolCalls: []stub.ToolCall{call("c4", "submit", `{"total": 3}`)}})
			var history event.History
			ctx := module.Observe(t.Context(), history.Observe)
			pred, err := module.NewReAct(adding, model, toolSet(t, adder()), nil).Run(ctx, anything)
			if err != nil || pred.Output.Total != 3 || len(pred.Trajectory.Steps) != 4 {
				t.Fatalf("got %+v, %v", pred, err)
			}
			if text := history.Last(1); !strings.Contains(text, "--- ai ---\n\nsubmit({") ||
				!strings.Contains(text, pred.Trajectory.Steps[3].Sent()) {
				t.Errorf("the history does not have the last request and its reply:\n%s", text)
			}
			first := pred.Trajectory.Steps[0]
			if want := "add returned:\n3\n\nadd failed: below zero"; !strings.HasPrefix(first.Observation, want) ||
				len(first.Outcome.Calls) != 2 {
				t.Errorf("got %q, want %q", first.Observation, want)
			}
			if calls := first.Outcome.Calls; calls[0].ID != 1 || calls[1].ID != 2 ||
				first.Outcome.Duration < calls[1].Started+calls[1].Duration {
				t.Errorf("got %+v", first.Outcome)
			}
			if strings.ReplaceAll(first.Code, " ", "") != "add({\"A\":1,\"B\":2})\nadd({\"A\":-1,\"B\":2})" ||
				first.Reasoning != "First both sums." {
				t.Errorf("got %q because of %q", first.Code, first.Reasoning)
			}
			for _, r := range server.Requests() {
				if text := string(r.Raw); !strings.Contains(r.Path, "show") && strings.Contains(text, "[[ ##") &&
					!strings.Contains(text, "limit") {
					t.Errorf("the prompt asks for markers: %s", text)
				}
			}
		})
	}
}

// callingModel returns a model that calls tools: one list of calls in each reply.
func callingModel(script ...[]llms.ToolCall) llms.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > len(script) {
			return llmtest.Reply{}, fmt.Errorf("request %d is not in the script", r.N)
		}
		return llmtest.Reply{ToolCalls: script[r.N-1]}, nil
	}).With(models.Capabilities{Tools: true})
}

func toolCall(name, args string) llms.ToolCall {
	return llms.ToolCall{ID: name + "1", Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

// The result of a malformed call says everything that is wrong with it.
func TestToolCallsThatAreWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calls []llms.ToolCall
		want  string
	}{
		"no such tool": {[]llms.ToolCall{toolCall("nope", `{}`)}, `Nothing was called: there is no tool "nope".`},
		"no JSON":      {[]llms.ToolCall{toolCall("add", `{"A": `)}, "add was not called: "},
		"wrong type":   {[]llms.ToolCall{toolCall("add", `{"A": "x", "B": 1}`)}, "add was not called: "},
		"submit with more": {[]llms.ToolCall{toolCall("add", `{"A": 1, "B": 1}`), toolCall("submit", `{"total": 2}`)},
			"add returned:\n2\n\nThe answer was not accepted: call submit alone, after you have seen the results of the " +
				"other calls."},
		"arguments missing": {[]llms.ToolCall{toolCall("add", "")}, "add was not called: "},
	} {
		model := callingModel(c.calls, []llms.ToolCall{toolCall("submit", `{"total": 2}`)})
		pred, err := module.NewReAct(adding, model, toolSet(t, adder()), nil).Run(t.Context(), anything)
		if err != nil || pred.Output.Total != 2 {
			t.Errorf("%s: got %+v, %v", name, pred, err)
			continue
		}
		if got := pred.Trajectory.Steps[0].Observation; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Names are accepted by every provider, and each belongs to one tool.
func TestToolCallNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long", 30)
	var set []tools.Source
	for _, name := range []string{"a_b", "größe", "submit_", long + "1", long + "2"} {
		set = append(set, tools.Func(name, "", func(context.Context, struct{}) (string, error) { return name, nil },
			&tools.Hints{Class: tools.Read}))
	}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > 1 {
			return llmtest.Reply{ToolCalls: []llms.ToolCall{toolCall("submit", `{"total": 2}`)}}, nil
		}
		var calls []llms.ToolCall
		for i, tool := range r.Options.Tools {
			name := tool.Function.Name
			if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
				t.Errorf("the name %q is not safe", name)
			}
			if name != "submit" {
				c := toolCall(name, `{}`)
				c.ID = fmt.Sprint(i)
				calls = append(calls, c)
			}
		}
		return llmtest.Reply{ToolCalls: calls}, nil
	}).With(models.Capabilities{Tools: true})
	pred := mustRun(t, module.NewReAct(adding, model, toolSet(t, set...), nil), anything)
	text := pred.Trajectory.Steps[0].Observation
	for _, name := range []string{"a_b", "größe", "submit_", long + "1", long + "2"} {
		if !strings.Contains(text, "returned:\n\""+name) {
			t.Errorf("%s was not called:\n%s", name, text)
		}
	}
}

// When the steps are used up, the answer is requested as a call of submit.
func TestToolCallsExtract(t *testing.T) {
	t.Parallel()
	add := []llms.ToolCall{toolCall("add", `{"A": 1, "B": 1}`)}
	o := &module.Options{MaxIters: 1, Extract: true}
	pred, err := module.NewReAct(adding, callingModel(add, []llms.ToolCall{toolCall("submit", `{"total": 2}`)}),
		toolSet(t, adder()), o).Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 2 || !pred.Trajectory.Steps[1].Extracted {
		t.Errorf("got %+v, %v", pred, err)
	}
	_, err = module.NewReAct(adding, callingModel(add, add), toolSet(t, adder()), o).Run(t.Context(), anything)
	if !errors.Is(err, module.ErrMaxIters) {
		t.Errorf("got %v", err)
	}
}

// If the model turns out not to support tools, the prompt asks for text.
func TestToolCallsRefused(t *testing.T) {
	t.Parallel()
	refused := &models.Error{Kind: models.KindInvalid, Err: errors.New("gemma3 does not support tools")}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if len(r.Options.Tools) > 0 {
			return llmtest.Reply{}, refused
		}
		return llmtest.Reply{Text: submits1}, nil
	})
	m := module.NewReAct(adding, model.With(models.Capabilities{Tools: true}), toolSet(t, adder()), nil)
	for want := 2; want <= 3; want++ {
		if pred, err := m.Run(t.Context(), anything); err != nil || pred.Output.Total != 1 ||
			len(pred.Trajectory.Steps) != 1 {
			t.Fatalf("got %+v, %v", pred, err)
		}
		if got := len(model.Requests()); got != want {
			t.Errorf("asked %d times, not %d", got, want)
		}
	}
}
