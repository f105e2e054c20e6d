package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
)

// endless returns a module whose model never submits an answer.
func endless(t *testing.T, box module.Sandbox, o *module.Options) (*module.CodeAct[orders, sum], *llmtest.Model) {
	t.Helper()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fence("look({}), " + strings.Repeat("0, ", r.N) + "1"), InputTokens: 1200, OutputTokens: 10},
			nil
	})
	look := tools.Func("look", "", func(context.Context, struct{}) (int, error) { return 1, nil }, onlyReads)
	return module.NewCodeAct(adding, model, box, toolSet(t, look), o), model
}

// Every limit ends a run with an error that says so and has what was done. In the step before, the model was told that
// it is the last one.
func TestBudgetEndsRun(t *testing.T) {
	t.Parallel()
	const last = "One program is left: submit"
	for name, limits := range map[string]budget.Limits{
		"steps":         {Steps: 3},
		"calls":         {Calls: 3},
		"tokens":        {Tokens: 4000},
		"output tokens": {OutputTokens: 39},
		"input tokens":  {InputTokens: 3900},
		"cost":          {Cost: 3.9, Prices: map[string]budget.Price{"": {Input: 1000}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			act, model := endless(t, inProcess(t), nil)
			ctx := budget.With(t.Context(), limits)
			pred, err := act.Run(ctx, anything)
			part, ok := errors.AsType[*module.IncompleteError](err)
			if pred != nil || !errors.Is(err, budget.ErrSpent) || !ok || errors.Is(err, module.ErrMaxIters) {
				t.Fatalf("got %v, %v", pred, err)
			}
			if n := part.Trajectory.Usage().Calls; n != budget.Of(ctx).Spent().Calls || n != len(model.Requests()) {
				t.Errorf("the trajectory has %d calls", n)
			}
			n := len(model.Requests())
			if n != 3 {
				t.Fatalf("the model was asked %d times", n)
			}
			if got := model.Requests()[n-1].Last(); !strings.Contains(got, last) {
				t.Errorf("the last of %d requests has no warning: %s", n, got)
			}
			if got := model.Requests()[0].Last(); strings.Contains(got, last) {
				t.Errorf("the first request has the warning")
			}
		})
	}
}

// A budget warns in a ReAct as well, and a step is one request of a module, whatever its attempts.
func TestBudgetWarnsReAct(t *testing.T) {
	t.Parallel()
	look := tools.Func("look", "", func(context.Context, struct{}) (int, error) { return 1, nil }, onlyReads)
	model := llmtest.New(action("look", `{}`), action("look", `{}`), submits1)
	ctx := budget.With(t.Context(), budget.Limits{Steps: 3})
	if _, err := module.NewReAct(adding, model, toolSet(t, look), nil).Run(ctx, anything); err != nil {
		t.Fatal(err)
	}
	wantTold(t, model, 1, "2 steps are left.")
	wantTold(t, model, 2, "One step is left: submit")
	if s := budget.Of(ctx).Spent(); s.Steps != 3 || s.ToolCalls != 2 {
		t.Errorf("spent %+v", s)
	}
}

// The steps, the calls and the tool calls of modules in tools count, and so do llm and rlm.
func TestBudgetOfSubAgents(t *testing.T) {
	t.Parallel()
	ctx := budget.With(t.Context(), budget.Limits{Steps: 10})
	inner, _ := endless(t, inProcess(t), &module.Options{MaxIters: 2})
	act := module.NewCodeAct(adding, llmtest.New(fence("try { await ask({limit: 1}) } catch {} submit({total: 1})")),
		inProcess(t), toolSet(t, askTool(inner)), nil)
	if _, err := act.Run(ctx, anything); err != nil {
		t.Fatal(err)
	}
	if s := budget.Of(ctx).Spent(); s.Steps != 3 || s.Calls != 3 || s.ToolCalls != 3 {
		t.Errorf("spent %+v", s)
	}
	ctx = budget.With(t.Context(), budget.Limits{Calls: 3})
	sub := llmtest.New("a", "b", "c")
	m, _ := rlm(t, inProcess(t), sub, nil,
		`let kinds = []; for (let i = 0; i < 3; i++) { try { await llm("?" + i) } catch (e) { kinds.push(e.kind) } } `+
			`console.log(kinds); submit({total: kinds.length})`)
	pred, err := m.Run(ctx, book{"x"})
	if err != nil || pred.Output.Total != 1 || budget.Of(ctx).Spent().Calls != 3 {
		t.Errorf("got %v, %v, spent %v", pred, err, budget.Of(ctx).Spent())
	}
	if out := pred.Trajectory.Steps[0].Outcome.Stdout.Text; !strings.Contains(out, tools.KindBudget) {
		t.Errorf("the program got %s", out)
	}
}

// A call that would exceed the limit of tool calls does not reach its tool. A call that a policy refuses is free.
func TestBudgetOfToolCalls(t *testing.T) {
	t.Parallel()
	sent := 0
	send := tools.Func("send", "", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (int, error) {
		sent++
		return in.N, nil
	}, onlyReads)
	deny := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if strings.Contains(string(c.Args), "0") {
				return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "no"}
			}
			return next.Call(ctx, c)
		})
	}
	model := llmtest.New(
		fence(`try { await send({n: 0}) } catch (e) { console.log(e.kind) } await send({n: 1})`),
		fence(`await send({n: 2}); await send({n: 3})`), submit1)
	ctx := budget.With(t.Context(), budget.Limits{ToolCalls: 2})
	pred, err := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, send).With(deny), nil).Run(ctx, anything)
	if err != nil || sent != 2 || budget.Of(ctx).Spent().ToolCalls != 2 {
		t.Fatalf("got %v, %v after %d calls, spent %+v", pred, err, sent, budget.Of(ctx).Spent())
	}
	wantTold(t, model, 1, "1 tool call may still be made.")
	wantTold(t, model, 2, "the budget allows no more than 2 tool calls; answer from what you know")
	wantTold(t, model, 2, "No tool call is left.")
	ctx = budget.With(t.Context(), budget.Limits{ToolCalls: -1})
	model = llmtest.New(fence(`await send({n: 1})`))
	_, err = module.NewCodeAct(adding, model, inProcess(t), toolSet(t, send), nil).Run(ctx, anything)
	wantError(t, err, "module: no answer: the model: budget: Limits.ToolCalls is -1; it must be zero, for no limit, or a positive number")
}

// The error of a run whose time is over says so, wherever the run was.
func TestBudgetOfTime(t *testing.T) {
	t.Parallel()
	wait := func(ctx context.Context, _ struct{}) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	slow := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
		<-ctx.Done()
		return llmtest.Reply{}, ctx.Err()
	})
	set := toolSet(t, tools.Func("wait", "", wait, onlyReads))
	for name, m := range map[string]module.Module[orders, sum]{
		"model":   module.NewPredict(adding, slow, nil),
		"tool":    module.NewCodeAct(adding, llmtest.New(fence("await wait({})")), inProcess(t), set, nil),
		"react":   module.NewReAct(adding, llmtest.New(action("wait", "{}")), set, nil),
		"program": module.NewCodeAct(adding, llmtest.New(fence("for (;;) {}")), inProcess(t), nil, nil),
		"best":    module.NewBestOfN(module.NewPredict(adding, llms.Model(slow), nil), 2, never, 1, nil),
	} {
		ctx := budget.With(t.Context(), budget.Limits{Time: 20 * time.Millisecond})
		_, err := m.Run(ctx, anything)
		e, ok := errors.AsType[*budget.Error](err)
		if !errors.Is(err, context.DeadlineExceeded) || !ok || e.Limit != "20ms" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A module that would run too deep within other modules does not run.
func TestBudgetOfDepth(t *testing.T) {
	t.Parallel()
	model := totalModel(1)
	var m module.Module[orders, sum] = module.NewPredict(adding, model, nil)
	for range 3 {
		m = module.NewCodeAct(adding, passes("ask"), inProcess(t), toolSet(t, askTool(m)), &module.Options{MaxIters: 1})
	}
	for depth, asked := range map[int]int{1: 0, 2: 0, 3: 1, 0: 1} {
		before := len(model.Requests())
		_, err := m.Run(budget.With(t.Context(), budget.Limits{Depth: depth}), anything)
		if n := len(model.Requests()) - before; n != asked || (err == nil) != (asked == 1) {
			t.Errorf("depth %d: the innermost model was asked %d times, %v", depth, n, err)
		}
	}
	outer := module.NewReAct(adding, llmtest.New(action("ask", `{"limit": 1}`), submits1), toolSet(t, askTool(m)), nil)
	pred, err := outer.Run(budget.With(t.Context(), budget.Limits{Depth: 1}), anything)
	if err != nil || !strings.Contains(pred.Trajectory.Runs[0].Err.Error(), "the budget allows no more than 1 module") {
		t.Errorf("got %v, %v", pred, err)
	}
}

// The model of an RLM is told how many calls are left. It is told the same when the replies come from a cache or from
// the record of a program that was killed, so that they are found.
func TestBudgetOfRLMWithStoredReplies(t *testing.T) {
	t.Parallel()
	for _, mode := range []models.Mode{models.Cache, models.Resume} {
		writer := llmtest.New(fence(`await llm("a"); await llm("b"); 1`), fence(`submit({total: 2})`))
		sub, path := llmtest.New("x", "y"), filepath.Join(t.TempDir(), "replies")
		for i := range 2 {
			store, err := models.OpenStore(&models.StoreOptions{Mode: mode, Path: path})
			if err != nil {
				t.Fatal(err)
			}
			m := module.NewRLM(reading, store.Model(writer, "writer"), inProcess(t), nil,
				&module.RLMOptions{Sub: store.Model(sub, "sub"), MaxCalls: 3})
			ctx := budget.With(t.Context(), budget.Limits{})
			if _, err := m.Run(ctx, book{"x"}); err != nil {
				t.Fatal(err)
			}
			if n := budget.Of(ctx).Spent().Calls; n != 4*(1-i) {
				t.Errorf("%v: %d calls were charged", mode, n)
			}
			store.Close()
		}
		wantTold(t, writer, 1, "Programs can call models 1 more time.")
		if n := len(writer.Requests()) + len(sub.Requests()); n != 4 {
			t.Errorf("%v: the models were asked %d times", mode, n)
		}
	}
}
