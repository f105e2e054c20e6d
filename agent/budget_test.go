package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// within is a module with a budget, over all processes that run it.
type within struct {
	module module.Module[agent.Task, agent.Answer]
	limits budget.Limits
	spent  budget.Spent
}

// Run runs the module.
func (w *within) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	ctx = budget.With(ctx, w.limits)
	defer func() { w.spent = budget.Of(ctx).Spent() }()
	return w.module.Run(ctx, in)
}

// A run that is resumed is charged again only to a budget that began within the run, and exactly as before, so that its
// limits hold over all processes.
func TestBudgetOfResumedRun(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	programs := []string{`await note({to: "x"})`, `await send({to: "ann"})`, `submit({answer: "done"})`}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N == 1 {
			return llmtest.Reply{}, &models.Error{
				Kind:         models.KindTransient,
				MaybeCharged: true,
				Err:          errors.New("down"),
			}
		}
		text := "```js\n" + programs[r.N-2] + "\n```"
		return llmtest.Reply{Text: text, InputTokens: 1000, OutputTokens: 10}, nil
	})
	bot, err := agent.New(models.Retry(model, &models.RetryOptions{MinWait: 1}), &agent.Options{
		Sandbox: open(t), Tools: o.tools(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &within{module: bot, limits: budget.Limits{Calls: 3, ToolCalls: 2}}
	first := budget.With(t.Context(), budget.Limits{})
	_, err = agent.Start(first, runs, "r-1", m, task)
	at, before := paused(t, err), m.spent
	if s := budget.Of(first).Spent(); s != before || s.Calls != 3 || s.Steps != 2 || s.ToolCalls != 1 {
		t.Errorf("spent %+v, and %+v within the run", s, before)
	}
	again := budget.With(t.Context(), budget.Limits{})
	_, err = agent.Resume(again, runs, m, at, map[string]agent.Decision{at.Waiting[0].ID: approved()})
	spent, ok := errors.AsType[*budget.Error](err)
	if !ok || spent.Limit != "3 model calls" || spent.Binds(again) || o.String() != "note:x send:ann" {
		t.Errorf("got %v after %v", err, o)
	}
	before.ToolCalls++
	if s := budget.Of(again).Spent(); m.spent != before || s != (budget.Spent{ToolCalls: 1}) {
		t.Errorf("spent %+v, and %+v within the run, want %+v", s, m.spent, before)
	}
}

// What the calls of a run have used counts once in each process, although their tools are not called again: the models
// of a sub-agent, those that a tool asks, and llm of an RLM.
func TestBudgetOfCallsWithModels(t *testing.T) {
	t.Parallel()
	const program = `const said = [await clerk({task: "a"}), await ask({task: "b"}), await llm("c")]
		await send({to: "ann"})
		said.push(await clerk({task: "d"}), await llm("e"))
		await send({to: "bob"})
		submit({answer: JSON.stringify(said)})`
	run := func(limits budget.Limits, pauses bool) (w *within, asked int, info agent.RunInfo, err error) {
		o, box := &office{}, open(t)
		model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			asked++
			reply := llmtest.Reply{Text: `{"answer": "x"}`, InputTokens: 100 + r.N, OutputTokens: 10}
			switch text := r.Text(); {
			case strings.Contains(text, "llm("):
				reply.Text = "```js\n" + program + "\n```"
			case strings.Contains(text, "note("):
				reply.Text = "```js\nsubmit({answer: \"\" + await note({to: \"x\"})})\n```"
			}
			return reply, nil
		})
		note := tools.Func("note", "Notes.", func(_ context.Context, m mail) (int, error) { return o.did("note"), nil },
			&tools.Hints{Class: tools.Effect})
		clerk, failed := agent.New(model, &agent.Options{Sandbox: box, Tools: setOf(t, note)})
		if failed != nil {
			t.Fatal(failed)
		}
		direct := module.NewPredict(signature.Must(signature.New[agent.Task, agent.Answer]("")), model, nil)
		ask := tools.Func("ask", "Asks.", func(ctx context.Context, in agent.Task) (agent.Answer, error) {
			pred, err := direct.Run(ctx, in)
			return pred.Output, err
		}, &tools.Hints{Class: tools.Read})
		set := setOf(t, agentTool("clerk", clerk), ask, tools.Func(
			"send",
			"Sends.",
			func(_ context.Context, m mail) (int, error) { return o.did("send:" + m.To), nil },
			&tools.Hints{Destructive: true},
		))
		if pauses {
			set = set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
		}
		boss := module.NewRLM(signature.Must(signature.New[agent.Task, agent.Answer]("")), model, box, set, nil)
		w, store := &within{module: boss, limits: limits}, journal.NewMemory()
		_, err = agent.Start(t.Context(), agent.NewRuns(store), "r-1", w, task)
		for range 2 {
			if pauses && errors.As(err, new(*agent.PausedError)) {
				at := paused(t, err)
				_, err = agent.Resume(t.Context(), agent.NewRuns(store), w, at,
					map[string]agent.Decision{at.Waiting[0].ID: approved()})
			}
		}
		list, failed := agent.NewRuns(store).List(t.Context())
		if failed != nil || len(list) != 1 {
			t.Fatal(list, failed)
		}
		return w, asked, list[0], err
	}
	prices := map[string]budget.Price{"": {Input: 1.1, Output: 3.3}}
	whole, requests, _, err := run(budget.Limits{Cost: 1, Prices: prices}, false)
	if err != nil || whole.spent.Calls != 6 || requests != 6 || whole.spent.Steps != 6 || whole.spent.ToolCalls != 9 {
		t.Fatalf("spent %+v after %d requests: %v", whole.spent, requests, err)
	}
	parts, asked, info, err := run(budget.Limits{Cost: 1, Prices: prices}, true)
	if err != nil || asked != requests || parts.spent != whole.spent || info.Spent == nil ||
		*info.Spent != whole.spent {
		t.Errorf("spent %+v after %d requests, want %+v; %+v, %v", parts.spent, asked, whole.spent, info.Spent, err)
	}
	for n := 1; n < requests; n++ {
		_, asked, info, err := run(budget.Limits{Steps: n}, true)
		if asked > n || info.Spent.Steps > n || info.State == agent.Failed && (info.Cause != "budget" || err == nil) {
			t.Errorf("%d steps: asked %d times; %+v, %v", n, asked, info, err)
		}
	}
}

// taskFunc is a function as a module.
type taskFunc func(ctx context.Context) error

// Run calls the function.
func (f taskFunc) Run(ctx context.Context, _ agent.Task) (*module.Prediction[agent.Answer], error) {
	return &module.Prediction[agent.Answer]{}, f(ctx)
}

// The concurrency of model calls is limited in durable runs, too.
func TestConcurrencyOfDurableRun(t *testing.T) {
	t.Parallel()
	var at, most atomic.Int32
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		defer at.Add(-1)
		if at.Add(1) > 1 {
			most.Store(2)
		}
		time.Sleep(20 * time.Millisecond) // another call would begin
		return llmtest.Reply{Text: `{"answer": "x"}`}, nil
	})
	ask := module.NewPredict(signature.Must(signature.New[agent.Task, agent.Answer]("")), model, nil)
	m := taskFunc(func(ctx context.Context) error {
		ctx = budget.With(ctx, budget.Limits{Concurrency: 1})
		_, err := module.Parallel(ctx, ask, []agent.Task{{Task: "a"}, {Task: "b"}, {Task: "c"}}, nil)
		return err
	})
	if _, err := agent.Start(t.Context(), agent.NewRuns(journal.NewMemory()), "r-1", m, task); err != nil ||
		most.Load() > 1 {
		t.Errorf("%d calls at the same time, %v", most.Load(), err)
	}
}

// The cause of a failed run is one of a few words.
func TestCause(t *testing.T) {
	t.Parallel()
	timeout, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	ended := models.Error{Kind: models.KindCancelled, Err: context.DeadlineExceeded}
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{t.Context(), errors.New("secret"), ""},
		{t.Context(), fmt.Errorf("x: %w", budget.ErrSpent), "budget"},
		{timeout, fmt.Errorf("x: %w", &ended), "deadline"},
		{t.Context(), context.Canceled, "canceled"},
		{t.Context(), &models.Error{Kind: models.KindTransient, Err: context.DeadlineExceeded}, "model"},
		{t.Context(), module.ErrNoAnswer, "no answer"},
		{t.Context(), module.ErrMaxIters, "steps"},
	} {
		runs := agent.NewRuns(journal.NewMemory())
		m := taskFunc(func(context.Context) error { return c.err })
		_, err := agent.Start(c.ctx, runs, "r-1", m, task)
		list, bad := runs.List(t.Context())
		if !errors.Is(err, c.err) || bad != nil || len(list) != 1 || list[0].Cause != c.want || list[0].Spent != nil {
			t.Errorf("%v: got %+v, %v, %v, want %q", c.err, list, err, bad, c.want)
		}
	}
}

// The calls that made a run fail still count when it is resumed. Otherwise, whoever resumes it again and again would
// spend without a limit.
func TestBudgetOfFailedRun(t *testing.T) {
	t.Parallel()
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	down := &models.Error{Kind: models.KindTransient, MaybeCharged: true, Err: errors.New("down")}
	for name, c := range map[string]struct {
		limits budget.Limits
		reply  llmtest.Reply
		err    error
		calls  int
	}{
		"failed calls": {budget.Limits{Calls: 3}, llmtest.Reply{}, down, 3},
		"one of two":   {budget.Limits{Calls: 1}, llmtest.Reply{}, down, 1},
		"replies that are cut off": {budget.Limits{OutputTokens: 100},
			llmtest.Reply{Text: "so", StopReason: "length", InputTokens: 1, OutputTokens: 100}, nil, 1},
	} {
		runs := agent.NewRuns(journal.NewMemory())
		model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) { return c.reply, c.err })
		m := &within{module: module.NewPredict(sig, models.Fallback(model, model), nil), limits: c.limits}
		_, err := agent.Start(t.Context(), runs, "r-1", m, task)
		for range 5 {
			at, bad := runs.Checkpoint(t.Context(), "r-1")
			if err == nil || bad != nil {
				t.Fatalf("%s: %v, %v", name, err, bad)
			}
			_, err = agent.Resume(t.Context(), runs, m, at, nil)
		}
		if n := len(model.Requests()); n != c.calls || !errors.Is(err, budget.ErrSpent) || m.spent.Calls != n {
			t.Errorf("%s: %v after %d calls; spent %v", name, err, n, m.spent)
		}
	}
}
