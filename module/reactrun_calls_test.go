package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
)

var canTools = models.Capabilities{Tools: true}

func submit2() []llms.ToolCall { return []llms.ToolCall{toolCall("submit", `{"total": 2}`)} }

func pay(id string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function",
		FunctionCall: &llms.FunctionCall{Name: "pay", Arguments: `{"To":"ann"}`}}
}

// A call without a function is answered like a call of a tool that does not exist, after another call too.
func TestToolCallWithoutFunction(t *testing.T) {
	t.Parallel()
	empty := llms.ToolCall{ID: "x", Type: "function"}
	for _, calls := range [][]llms.ToolCall{{empty}, {toolCall("add", `{"A":1,"B":1}`), empty}} {
		mustRun(t, module.NewReAct(adding, callingModel(calls, submit2()), toolSet(t, adder()), nil), anything)
	}
}

// A run in progress is not affected if another run finds that the model refuses tools.
func TestToolModeOfRuns(t *testing.T) {
	t.Parallel()
	asked, flipped := make(chan struct{}), make(chan struct{})
	var n atomic.Int32
	besideRefused(t, asked, flipped, nil, func(r llmtest.Request) (llmtest.Reply, error) {
		if n.Add(1) == 1 {
			close(asked)
			<-flipped
			return llmtest.Reply{ToolCalls: []llms.ToolCall{toolCall("add", `{"A":1,"B":1}`)}}, nil
		}
		if len(r.Options.Tools) == 0 {
			return llmtest.Reply{}, fmt.Errorf("second request without tools: %s", r.Text())
		}
		return llmtest.Reply{ToolCalls: submit2()}, nil
	})
}

// The same is true of its extracted answer.
func TestToolModeOfExtraction(t *testing.T) {
	t.Parallel()
	asked, flipped := make(chan struct{}), make(chan struct{})
	var n atomic.Int32
	o := &module.Options{MaxIters: 1, Extract: true}
	besideRefused(t, asked, flipped, o, func(llmtest.Request) (llmtest.Reply, error) {
		if n.Add(1) == 1 {
			return llmtest.Reply{ToolCalls: []llms.ToolCall{toolCall("add", `{"A":1,"B":1}`)}}, nil
		}
		close(asked)
		<-flipped
		return llmtest.Reply{ToolCalls: submit2()}, nil
	})
}

// besideRefused runs a ReAct whose model replies to its requests with a function. When the model has been asked,
// another run of the ReAct is refused tools, and then the first run goes on.
func besideRefused(t *testing.T, asked <-chan struct{}, flipped chan<- struct{}, o *module.Options,
	reply func(llmtest.Request) (llmtest.Reply, error)) {
	t.Helper()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch {
		case !strings.Contains(r.Text(), "777"):
			return reply(r)
		case len(r.Options.Tools) > 0:
			return llmtest.Reply{}, &models.Error{Kind: models.KindInvalid, Status: 400,
				Err: errors.New("messages.1: image of the toolbox is too large")}
		}
		return llmtest.Reply{Text: submits1}, nil
	}).With(canTools)
	m := module.NewReAct(adding, model, toolSet(t, adder()), o)
	done := make(chan error)
	go func() { done <- second(m.Run(t.Context(), anything)) }()
	<-asked
	_, _ = m.Run(t.Context(), orders{Limit: 777})
	close(flipped)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A request that was refused for another reason does not disable tools permanently.
func TestToolsRefusedForAnotherReason(t *testing.T) {
	t.Parallel()
	n := 0
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if n++; n <= 2 {
			return llmtest.Reply{}, &models.Error{Kind: models.KindInvalid, Status: 400,
				Err: errors.New("messages.0: the picture toolbox.png is too large")}
		}
		if len(r.Options.Tools) == 0 {
			t.Error("tools were disabled permanently by an error that also occurs without tools")
			return llmtest.Reply{Text: submits1}, nil
		}
		return llmtest.Reply{ToolCalls: submit2()}, nil
	}).With(canTools)
	m := module.NewReAct(adding, model, toolSet(t, adder()), nil)
	if _, err := m.Run(t.Context(), anything); err == nil {
		t.Error("the first run did not fail")
	}
	_, err := m.Run(t.Context(), anything)
	if err != nil {
		t.Error(err)
	}
}

// A call that was held in a step is made only if the model repeats it after it was told.
func TestToolCallsHeldInOneStep(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][][]llms.ToolCall{
		"one step":  {{pay("1"), pay("2"), pay("3")}, submit2()},
		"two steps": {{pay("1")}, {pay("2"), pay("3")}, submit2()},
	} {
		made := 0
		tool := tools.Func("pay", "Pays.", func(context.Context, struct{ To string }) (string, error) {
			made++
			return "", errors.New("timeout")
		}, nil)
		pred, err := module.NewReAct(adding, callingModel(script...), toolSet(t, tool), nil).Run(t.Context(), anything)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if made != 1 {
			t.Errorf("%s: paid %d times before the model was told that the call had been held:\n%s", name, made,
				pred.Trajectory.Steps[len(pred.Trajectory.Steps)-2].Observation)
		}
	}
}

// A held call is confirmed by the same call in another notation.
func TestToolCallsHeldInOtherNotation(t *testing.T) {
	t.Parallel()
	type payment struct {
		N    float64 `json:"n"`
		Note string  `json:"note,omitempty" jsonschema:"default=none"`
		Copy *bool   `json:"copy,omitempty"`
	}
	const first = `{"n":1,"note":"none"}`
	for _, again := range []string{
		first, `{"n":1.0,"note":"none"}`, `{"note": "none", "n": 1e0}`, `{"n":1}`, `{"n":1,"copy":null}`,
	} {
		made := 0
		tool := tools.Func("pay", "Pays.", func(context.Context, payment) (string, error) {
			made++
			return "", errors.New("504")
		}, nil)
		pay := func(args string) []llms.ToolCall { return []llms.ToolCall{toolCall("pay", args)} }
		model := callingModel(pay(first), pay(first), pay(again), submit2())
		pred := mustRun(t, module.NewReAct(adding, model, toolSet(t, tool), nil), anything)
		if made != 2 {
			t.Errorf("%s: paid %d times:\n%s", again, made, pred.Trajectory)
		}
	}
}

// A fatal error of the second call of a step does not lose the first one.
func TestToolCallsFatalSecond(t *testing.T) {
	t.Parallel()
	fatal := tools.Func("die", "", func(context.Context, struct{}) (string, error) {
		return "", tools.Fatal(errors.New("stop"))
	}, &tools.Hints{Class: tools.Read})
	model := callingModel([]llms.ToolCall{toolCall("add", `{"A":1,"B":1}`), toolCall("die", `{}`)})
	_, err := module.NewReAct(adding, model, toolSet(t, adder(), fatal), nil).Run(t.Context(), anything)
	var inc *module.IncompleteError
	if !errors.As(err, &inc) {
		t.Fatal(err)
	}
	if s := inc.Trajectory.Steps[0]; len(s.Outcome.Calls) != 2 {
		t.Errorf("the step has %d of 2 calls: %+v\ncode:%s", len(s.Outcome.Calls), s.Outcome.Calls, s.Code)
	}
}

// Trajectories are valid JSON even if the model writes malformed arguments.
func TestToolCallsOfInvalidJSON(t *testing.T) {
	t.Parallel()
	for _, args := range []string{`{"A": `, `{"A":1,"B":1} x`, `{A:1}`, `{"A":NaN,"B":1}`} {
		pred, err := module.NewReAct(adding, callingModel([]llms.ToolCall{toolCall("add", args)}, submit2()),
			toolSet(t, adder()), nil).Run(t.Context(), anything)
		if err != nil {
			t.Errorf("%q: %v", args, err)
			continue
		}
		raw, err := json.Marshal(pred.Trajectory)
		if err != nil {
			t.Errorf("%q: trajectory: %v", args, err)
			continue
		}
		var back module.Trajectory
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Errorf("%q: back: %v", args, err)
		}
		again, _ := json.Marshal(back)
		if string(again) != string(raw) {
			t.Errorf("%q: round trip:\n%s\n%s", args, raw, again)
		}
	}
}

// The events have the same call IDs as the outcome.
func TestToolCallIDs(t *testing.T) {
	t.Parallel()
	var ids []int
	ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) {
		if e, ok := e.(event.ToolCallStart); ok {
			ids = append(ids, e.Call.ID)
		}
	})
	pred, err := module.NewReAct(adding, callingModel([]llms.ToolCall{toolCall("add", `{"A":1,"B":1}`),
		toolCall("add", `{"A":2,"B":1}`)}, submit2()), toolSet(t, adder()), nil).Run(ctx, anything)
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	for _, c := range pred.Trajectory.Steps[0].Outcome.Calls {
		want = append(want, c.ID)
	}
	if fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Errorf("events have the call ids %v, the outcome %v", ids, want)
	}
}

// BestOfN of a ReAct whose model refuses tools tries tools once.
func TestToolsRefusedInAttempts(t *testing.T) {
	t.Parallel()
	var refused atomic.Int32
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if len(r.Options.Tools) > 0 {
			refused.Add(1)
			return llmtest.Reply{}, &models.Error{Kind: models.KindInvalid, Status: 400,
				Err: errors.New("does not support tools")}
		}
		return llmtest.Reply{Text: submits1}, nil
	}).With(canTools)
	m := module.NewReAct(adding, model, toolSet(t, adder()), nil)
	b := module.NewBestOfN[orders, sum](m, 4, func(context.Context, orders, *module.Prediction[sum]) (module.Score,
		error) {
		return module.Score{}, nil
	}, 1, nil)
	for range 2 {
		mustRun(t, b, anything)
	}
	if refused.Load() > 1 {
		t.Errorf("refused %d times", refused.Load())
	}
}
