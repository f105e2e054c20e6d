package module_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// The calls of a program are made at the same time, up to the limit.
func TestRLMConcurrency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ concurrency, together int }{{20, 20}, {3, 3}} {
		var now, most atomic.Int64
		all := make(chan struct{})
		together := sync.OnceFunc(func() { close(all) })
		sub := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			if n == int64(c.together) {
				together()
			}
			select {
			case <-all: // as many as can be are here together
			case <-ctx.Done():
			}
			return llmtest.Reply{Text: r.Last()}, nil
		})
		box := openBox(t, sandbox.NewInProcess, patiently(sandbox.Limits{Concurrency: 20}))
		m, _ := rlm(t, box, sub, &module.RLMOptions{Concurrency: c.concurrency},
			`const numbers = await Promise.all([...Array(20).keys()].map(i => llm(String(i + 1)))); submit({total: `+
				`numbers.map(Number).reduce((a, b) => a + b)})`)
		pred, err := m.Run(t.Context(), book{"x"})
		if err != nil || pred.Output.Total != 210 || most.Load() != int64(c.together) {
			t.Errorf("concurrency %d: %v, %v, %d at the same time", c.concurrency, pred, err, most.Load())
		}
	}
}

// If the budget is used up, the program gets an error and can go on.
func TestRLMBudgets(t *testing.T) {
	t.Parallel()
	say := func(text string) *llmtest.Model {
		return llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: text, InputTokens: 30, OutputTokens: 20}, nil
		})
	}
	const program = `const errors = []; let n = 0;
for (let i = 0; i < 5; i++) {
	try { await llm("What about " + i + "?"); n++ } catch (e) { errors.push(e.tool + " " + e.kind + ": " + e.message) }
}
console.log(errors.join("\n")); n`
	const counted = "llm budget: the budget allows no more than 2 model calls; go on without further calls"
	for name, c := range map[string]struct {
		o          module.RLMOptions
		made       int
		told, left string
	}{
		"calls": {module.RLMOptions{MaxCalls: 2}, 2, strings.Repeat(counted+"\n", 3),
			"Programs cannot call models any more."},
		"tokens": {module.RLMOptions{MaxTokens: 200}, 3,
			"llm budget: the budget allows no more than 200 tokens; go on without further calls\n",
			"Programs can call models 47 more times, with 50 tokens."},
		"none": {module.RLMOptions{MaxTokens: 1}, 0, "no more than 1 token;", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := say("yes")
			m, model := rlm(t, inProcess(t), sub, &c.o, program, `submit({total: n})`)
			pred := mustRun(t, m, book{"x"})
			told := model.Requests()[1].Last()
			if pred.Output.Total != c.made || len(sub.Requests()) != c.made || !strings.Contains(told, c.told) ||
				!strings.Contains(told, c.left) {
				t.Errorf("%d calls, the model was told:\n%s", len(sub.Requests()), told)
			}
			if spent := pred.Trajectory.Spent.Total(); spent != (event.Usage{Calls: c.made, InputTokens: 30 * c.made,
				OutputTokens: 20 * c.made}) {
				t.Errorf("spent %+v", spent)
			}
		})
	}
}

// Concurrent calls together do not exceed the token limit.
func TestRLMConcurrentTokens(t *testing.T) {
	t.Parallel()
	const most = 350
	sub := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "yes", InputTokens: 45, OutputTokens: 5}, nil
	})
	m, _ := rlm(t, inProcess(t), sub, &module.RLMOptions{MaxTokens: most},
		`const all = await Promise.allSettled([...Array(40).keys()].map(i => llm("What about " + i + "?"))); `+
			`submit({total: all.filter(a => a.status === "fulfilled").length})`)
	pred := mustRun(t, m, book{"x"})
	spent := pred.Trajectory.Spent.Total()
	if made := spent.Calls; made < 4 || made != pred.Output.Total || spent.InputTokens+spent.OutputTokens > most {
		t.Errorf("%d answers, spent %+v", pred.Output.Total, spent)
	}
}

// Modules that tools run are charged to the budget of the program.
func TestRLMBudgetLimitsModulesInTools(t *testing.T) {
	t.Parallel()
	inner := llmtest.New(fits, fits, fits)
	sub := llmtest.New("a", "b", "c")
	var failed error
	ask := func(ctx context.Context, _ struct{}) (int, error) {
		pred, err := module.NewPredict(adding, inner, nil).Run(ctx, anything)
		if err != nil {
			failed = err
			return 0, err
		}
		return pred.Output.Total, nil
	}
	program := fence(`await llm("one"); const n = await count({}); let kind; try { await count({}) } catch (e) { ` +
		`kind = e.kind } console.log(kind); submit({total: n})`)
	m := module.NewRLM(reading, llmtest.New(program), inProcess(t), toolSet(t, tools.Func("count", "", ask, nil)),
		&module.RLMOptions{Sub: sub, MaxCalls: 2})
	pred, err := m.Run(t.Context(), book{"x"})
	if err != nil || pred.Output.Total != 3 || len(inner.Requests()) != 1 || !errors.Is(failed, budget.ErrSpent) {
		t.Fatalf("got %v, %v, %d calls, %v", pred, err, len(inner.Requests()), failed)
	}
	if tr := pred.Trajectory; tr.Spent.Total().Calls != 1 || len(tr.Runs) != 2 || tr.Usage().Calls != 3 {
		t.Errorf("spent %+v, %d runs, usage %+v", tr.Spent, len(tr.Runs), tr.Usage())
	}
}

// If a module in a tool is cancelled while it waits for a slot, the error has the cause.
func TestRLMCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	gone := errors.New("the user disconnected")
	var failed error
	ask := func(ctx context.Context, _ struct{}) (int, error) {
		waiting, cancel := context.WithCancelCause(ctx)
		holder := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			go cancel(gone)
			// The context of the tool makes it wait for a slot.
			_, failed = module.NewPredict(adding, llmtest.New(fits), nil).Run(waiting, anything)
			return llmtest.Reply{Text: fits}, nil
		})
		_, err := module.NewPredict(adding, holder, nil).Run(ctx, anything)
		return 1, err
	}
	program := fence(`submit({total: await count({})})`)
	m := module.NewRLM(reading, llmtest.New(program), inProcess(t), toolSet(t, tools.Func("count", "", ask, nil)),
		&module.RLMOptions{Concurrency: 1})
	if _, err := m.Run(t.Context(), book{"x"}); err != nil || !errors.Is(failed, context.Canceled) ||
		!errors.Is(failed, gone) {
		t.Errorf("got %v and %v", err, failed)
	}
}

// A module in a tool whose context has ended does not call the model and is not charged.
func TestRLMEndedContextIsNotCharged(t *testing.T) {
	t.Parallel()
	inner, asked := llmtest.New(), 0
	ask := func(ctx context.Context, _ struct{}) (int, error) {
		ended, cancel := context.WithCancel(module.Observe(ctx, func(_ context.Context, e event.Event) {
			if _, ok := e.(event.ModelRequest); ok {
				asked++
			}
		}))
		cancel()
		for range 20 {
			if err := second(module.NewPredict(adding, inner, nil).Run(ended, anything)); !errors.Is(err, context.Canceled) {
				return 0, err
			}
		}
		return 1, nil
	}
	program := fence(`const n = await count({}); await llm("one"); submit({total: n})`)
	m := module.NewRLM(reading, llmtest.New(program), inProcess(t), toolSet(t, tools.Func("count", "", ask, nil)),
		&module.RLMOptions{Sub: echoes(), MaxCalls: 1})
	pred, err := m.Run(t.Context(), book{"x"})
	if err != nil || pred.Trajectory.Usage().Calls != 2 || asked != 0 {
		t.Errorf("got %v, %v after %d events", pred, err, asked)
	}
}

// Nested runs share the budget, and their steps are part of the run.
func TestRLMNested(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Messages[0].Parts[0].(llms.TextContent).Text, "declare function submit") {
			return llmtest.Reply{Text: fence(`submit({reply: prompt + ": " + context.length + await llm("?" + context[0])})`)},
				nil
		}
		return llmtest.Reply{Text: r.Last()}, nil
	})
	run := func(o module.RLMOptions, program string) (*module.Prediction[found], string, error) {
		m, model := rlm(t, inProcess(t), sub, &o, program, `submit({total: 1})`)
		pred, err := m.Run(t.Context(), book{"x"})
		if err != nil {
			return pred, "", err
		}
		return pred, model.Requests()[1].Last(), nil
	}
	const two = `await Promise.all([rlm({prompt: "how many", context: [1, 2, 3]}), rlm({prompt: "how many", ` +
		`context: "ab"})])`
	pred, told, err := run(module.RLMOptions{Depth: 2}, two)
	if err != nil || !strings.Contains(told, `["how many: 3?1","how many: 2?a"]`) {
		t.Fatalf("%v, the model was told:\n%s", err, told)
	}
	if tr := pred.Trajectory; len(tr.Runs) != 2 || tr.Runs[0].Spent.Total().Calls != 1 || tr.Spent != nil ||
		tr.Usage().Calls != 6 {
		t.Errorf("%d attempts, spent %+v, usage %+v", len(tr.Runs), tr.Spent, tr.Usage())
	}
	_, told, _ = run(module.RLMOptions{Depth: 2, MaxCalls: 1},
		`try { await rlm({prompt: "how many", context: [1]}) } catch (e) { console.log(e.kind, e.message) }`)
	if want := "budget the task was not worked out: the budget allows no more than 1 model call; go on without " +
		"further calls"; !strings.Contains(told, want) {
		t.Errorf("got %s, want %s", told, want)
	}
	_, told, _ = run(module.RLMOptions{}, two)
	if !strings.Contains(told, "rlm is not defined") {
		t.Errorf("there is rlm at depth 1: %s", told)
	}
}

// An RLM is safe for concurrent use: each run has its own session and budget, and leaves no goroutine behind.
func TestRLMConcurrentRuns(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fence([]string{
			`const mine = await Promise.all([1, 2, 3].map(i => llm(text + i)))`,
			`null.x`,
			`submit({total: mine.every(a => a.startsWith(text)) ? text.length : -1})`,
		}[len(r.Messages)/2-1])}, nil
	})
	sub := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: r.Last()}, nil
	})
	m := module.NewRLM(reading, model, box, nil, &module.RLMOptions{Sub: sub, MaxCalls: 3})
	concurrently(t, func(ctx context.Context, i int) {
		pred, err := m.Run(ctx, book{strings.Repeat("x", i+1)})
		if err != nil || pred.Output.Total != i+1 || pred.Trajectory.Spent.Total().Calls != 3 {
			t.Errorf("run %d: %+v, %v", i, pred, err)
		}
	})
}

// Nested runs need workers of the same sandbox, and get them, even if one program may compute at a time.
func TestRLMNestedInWorkers(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.New, &sandbox.Options{Workers: 1, Limits: patiently(sandbox.Limits{}).Limits})
	sub := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if len(r.Messages) == 2 && strings.Contains(r.Text(), "declare function rlm") {
			return llmtest.Reply{Text: fence(`const halves = [context.slice(0, 2), context.slice(2)];
submit({reply: (await Promise.all(halves.map(context => rlm({prompt, context})))).join("")})`)}, nil
		}
		return llmtest.Reply{Text: fence(`submit({reply: context.toUpperCase()})`)}, nil
	})
	m, _ := rlm(t, box, sub, &module.RLMOptions{Depth: 3},
		`const all = await Promise.all([text, "rat?"].map(context => rlm({prompt: "shout", context}))); `+
			`console.log(all.join()); submit({total: 1})`)
	pred, err := m.Run(t.Context(), book{"mole"})
	if err != nil || pred.Trajectory.Steps[0].Outcome.Stdout.Text != "MOLE,RAT?\n" || pred.Trajectory.Usage().Calls != 7 {
		t.Errorf("got %+v, %v", pred, err)
	}
}

// The sandbox's limit of calls applies to other tools. Calls that the budget refuses count.
func TestRLMCallsAndSandboxLimit(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.NewInProcess, patiently(sandbox.Limits{Calls: 4}))
	ask := func(n int) string {
		return fmt.Sprintf(`const all = await Promise.allSettled(Array.from({length: %d}, (_, i) => llm("part " + i))); `, n)
	}
	sub := echoes()
	m, model := rlm(t, box, sub, &module.RLMOptions{MaxCalls: 20},
		ask(24)+`null.x`,
		ask(25)+`throw new Error(all.filter(a => a.reason?.kind === "limit").length + " refused")`,
		ask(24)+`submit({total: all.filter(a => a.status === "fulfilled").length})`)
	pred, err := m.Run(t.Context(), book{"x"})
	if err != nil || pred.Output.Total != 20 || len(sub.Requests()) != 20 {
		t.Fatalf("got %v, %v, %d calls", pred, err, len(sub.Requests()))
	}
	read := regexp.MustCompile(`\n\nFailed reads:\n- llm ×4 → the budget allows no more than 20 model calls; go on without ` +
		`further calls\n\nReads:\n- llm ×20\n`)
	if told := model.Requests()[1].Last(); !read.MatchString(told) {
		t.Errorf("told %s", told)
	}
	wantTold(t, model, 2, "Error: 1 refused\n")
}
