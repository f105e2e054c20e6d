package module_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// usageOf returns the usage of a run, with or without an answer.
func usageOf(t *testing.T, pred *module.Prediction[sum], err error) event.Usage {
	t.Helper()
	r := module.Result[sum]{Prediction: pred, Err: err}
	trajectory := r.Trajectory()
	return trajectory.Usage()
}

// Every call within a run is counted once by the run.
func TestUsageOfModulesInTools(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	for name, make := range map[string]func(model llms.Model, set *tools.Set) module.Module[orders, sum]{
		"CodeAct": func(model llms.Model, set *tools.Set) module.Module[orders, sum] {
			return module.NewCodeAct(adding, model, box, set, nil)
		},
		"RLM": func(model llms.Model, set *tools.Set) module.Module[orders, sum] {
			return module.NewRLM(adding, model, box, set, nil)
		},
		"CodeAct in BestOfN": func(model llms.Model, set *tools.Set) module.Module[orders, sum] {
			return module.NewBestOfN(module.NewCodeAct(adding, model, box, set, nil), 1, never, 1, nil)
		},
	} {
		inner, asked := total1(), llmtest.New(fence(`submit({total: await ask({})})`))
		judge := module.NewPredict(adding, inner, nil)
		ask := tools.Func("ask", "", func(ctx context.Context, _ struct{}) (int, error) {
			_, err := judge.Run(ctx, anything)
			return 1, err
		}, nil)
		pred, err := make(asked, toolSet(t, ask)).Run(t.Context(), anything)
		if got := usageOf(t, pred, err).Calls; err != nil || got != 2 || len(inner.Requests()) != 1 {
			t.Errorf("%s: %d calls are accounted for, not 2: %v", name, got, err)
		}
	}
	act := module.NewReAct(
		adding,
		llmtest.New(action("ask", `{}`), submits1),
		toolSet(t, tools.Func("ask", "", func(ctx context.Context, _ struct{}) (int, error) {
			_, err := module.NewPredict(adding, total1(), nil).Run(ctx, anything)
			return 1, err
		}, nil)),
		nil,
	)
	pred, err := act.Run(t.Context(), anything)
	if got := usageOf(t, pred, err).Calls; got != 3 {
		t.Errorf("ReAct: %d calls are accounted for, not 3: %v", got, err)
	}
}

// So are the calls of a reward, even if there is no answer.
func TestUsageOfRewards(t *testing.T) {
	t.Parallel()
	for _, end := range []error{nil, errors.New("no good")} {
		judge, model := total1(), total1()
		reward := func(ctx context.Context, in orders, _ *module.Prediction[sum]) (module.Score, error) {
			_, err := module.NewPredict(adding, judge, nil).Run(ctx, in)
			return module.Score{}, errors.Join(err, end)
		}
		pred, err := module.NewBestOfN(module.NewPredict(adding, model, nil), 3, reward, 1, nil).Run(t.Context(), anything)
		if got := usageOf(t, pred, err).Calls; got != 6 || (err == nil) != (end == nil) {
			t.Errorf("%d calls are accounted for, not 6: %v", got, err)
		}
	}
}

// Calls that were not made are not counted.
func TestUsageOfUnsentRequests(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pred, err := module.NewPredict(adding, total1(), nil).Run(ctx, anything)
	if got := usageOf(t, pred, err); got != (event.Usage{}) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %+v, %v", got, err)
	}
	results, err := module.Parallel(
		budget.With(t.Context(), budget.Limits{Calls: 1}),
		module.NewPredict(adding, total1(), nil),
		[]orders{anything, anything, anything},
		&module.ParallelOptions{Workers: 1, Collect: true},
	)
	got := 0
	for _, r := range results {
		got += r.Trajectory().Usage().Calls
	}
	if got != 1 || err == nil {
		t.Errorf("refused by the budget: %d calls, %v", got, err)
	}
}

// A call in progress when the run ends is counted.
func TestUsageOfCallsInProgress(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	release, left := make(chan struct{}), make(chan struct{})
	sub := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		defer close(left)
		cancel()
		<-release // even if ctx ends
		return llmtest.Reply{Text: "late"}, nil
	})
	m, _ := rlm(t, inProcess(t), sub, nil, `await llm("x")`)
	_, err := m.Run(ctx, book{"x"})
	close(release)
	<-left
	var part *module.IncompleteError
	if !errors.As(err, &part) || part.Trajectory.Usage().Calls != 2 {
		t.Errorf("got %v", err)
	}
}

// A model that runs a module does not wait for the slot that it holds itself, and the module's
// calls are counted.
func TestRLMSubModelRunsModule(t *testing.T) {
	t.Parallel()
	inner := total1()
	sub := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
		pred, err := module.NewPredict(adding, inner, nil).Run(ctx, anything)
		if err != nil {
			return llmtest.Reply{}, err
		}
		return llmtest.Reply{Text: fmt.Sprint(pred.Output.Total)}, nil
	})
	m, _ := rlm(t, inProcess(t), sub, &module.RLMOptions{Concurrency: 1},
		`submit({total: (await Promise.all([1, 2, 3, 4].map(i => llm("p" + i)))).length})`)
	pred, err := m.Run(t.Context(), book{"x"})
	if err != nil || pred.Output.Total != 4 || pred.Trajectory.Spent.Total().Calls != 8 {
		t.Errorf("got %+v, %v", pred, err)
	}
}

// If a provider reports implausible usage, the budget is used up rather than circumvented.
func TestRLMImplausibleUsage(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "1", InputTokens: math.MaxInt, OutputTokens: math.MaxInt}, nil
	})
	m, _ := rlm(t, inProcess(t), sub, &module.RLMOptions{MaxTokens: 1000},
		`let n = 0; for (let i = 0; i < 5; i++) try { await llm("p" + i); n++ } catch (e) {} submit({total: n})`)
	pred, err := m.Run(t.Context(), book{"x"})
	if err != nil || pred.Output.Total != 1 || len(sub.Requests()) != 1 || pred.Trajectory.Usage().InputTokens < 1000 {
		t.Errorf("%d questions, got %+v, %v", len(sub.Requests()), pred, err)
	}
}

// sampling is a user's module that samples another one. It cancels nothing, because the usage of a
// cancelled call is not known.
type sampling struct{ Ask module.Module[orders, sum] }

func (s sampling) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	samples, err := module.Samples(ctx, s.Ask, in, 3, &module.ParallelOptions{Collect: true})
	if err != nil {
		return nil, err
	}
	return module.Majority(samples, nil)
}

// forgetful is a module that loses the trajectory.
type forgetful struct{ Ask module.Module[orders, sum] }

func (f forgetful) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	pred, err := f.Ask.Run(ctx, in)
	if err != nil {
		return nil, errors.New("no luck")
	}
	return &module.Prediction[sum]{Output: pred.Output}, nil
}

// nested returns a random combination of modules.
func nested(rnd *rand.Rand, box *sandbox.Sandbox, model llms.Model, depth int) module.Module[orders, sum] {
	o := module.Options{MaxIters: 2, Extract: true}
	k := rnd.IntN(11)
	if depth == 0 {
		k %= 5
	}
	inner := func() module.Module[orders, sum] { return nested(rnd, box, model, depth-1) }
	switch k {
	case 0:
		return module.NewPredict(adding, model, nil)
	case 1:
		return module.NewReAct(adding, model, nil, &o)
	case 2:
		return module.NewCodeAct(adding, model, box, nil, &o)
	case 3:
		return module.NewRLM(adding, model, box, nil, &module.RLMOptions{Options: o})
	case 4:
		return module.NewRLM(adding, model, box, nil, &module.RLMOptions{Options: o, Depth: 3, MaxCalls: 10})
	case 5, 6:
		return module.NewBestOfN(inner(), 2, never, 1, nil)
	case 7:
		return module.NewRefine(inner(), 2, never, 1, nil)
	case 8:
		return module.NewMultiChainComparison(adding, inner(), 2, model, nil)
	case 9:
		return module.NewBestOfN(forgetful{inner()}, 2, never, 1, nil)
	}
	return sampling{inner()}
}

// replyTo gives a valid reply to any prompt of the modules that nested returns.
func replyTo(r llmtest.Request, chance int) string {
	text := r.Text()
	switch {
	case strings.Contains(text, "await rlm(") && chance < 4:
		return fence(`console.log(await rlm({prompt: "x", context: [1]}))`)
	case strings.Contains(text, "await llm(prompt)") && chance < 7:
		return fence(`console.log(await Promise.all([llm("x" + Math.random()), llm("y").catch(e => e.kind)])); null.x`)
	case strings.Contains(text, "declare function submit(answer: {reply"):
		return fence(`submit({reply: "1"})`)
	case strings.Contains(text, "declare function submit(answer"):
		return fence(`submit({total: 1})`)
	case strings.Contains(text, "declare function submit(args"):
		return submits1
	}
	return advised(r)
}

// However modules are combined, and however the models fail, the run accounts for every call and
// every token.
func TestUsageIsExact(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	for seed := range 60 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 1))
		failing := seed%3 == 0
		var chances [64]int
		for i := range chances {
			chances[i] = rnd.IntN(10)
		}
		var asked, tokens atomic.Int64
		model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			asked.Add(1)
			chance := chances[r.N%len(chances)]
			if failing && chance == 9 {
				return llmtest.Reply{}, &models.Error{Kind: models.KindTransient, Err: errors.New("down")}
			}
			tokens.Add(7)
			if failing && chance == 8 {
				return llmtest.Reply{Text: "garbage", InputTokens: 7}, nil
			}
			return llmtest.Reply{Text: replyTo(r, chance), InputTokens: 7}, nil
		})
		m := module.NewBestOfN(nested(rnd, box, model, 2), 1, never, 1, nil)
		pred, err := m.Run(t.Context(), anything)
		if got := usageOf(t, pred, err); int64(got.Calls) != asked.Load() || int64(got.InputTokens) != tokens.Load() {
			t.Errorf(
				"seed %d, %T: %+v are accounted for, of %d calls and %d tokens: %v",
				seed,
				m.Module,
				got,
				asked.Load(),
				tokens.Load(),
				err,
			)
		}
	}
}

// A usage has a readable form.
func TestUsageString(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]event.Usage{
		"0 calls of the model, 0 tokens in, 0 out": {},
		"1 call of the model, 12 tokens in, 3 out": {Calls: 1, InputTokens: 12, OutputTokens: 3},
		"2 calls of the model, 5 tokens in, 1 out, 1 call answered by a cache": {Calls: 2, InputTokens: 5, OutputTokens: 1,
			Hits: 1},
		"0 calls of the model, 0 tokens in, 0 out, 3 calls answered by a cache": {Hits: 3},
	} {
		if got := u.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// cutting is a model that cancels the run after its reply.
type cutting struct {
	llms.Model
	cancel func()
}

func (c cutting) GenerateContent(
	ctx context.Context,
	m []llms.MessageContent,
	o ...llms.CallOption,
) (*llms.ContentResponse, error) {
	defer c.cancel()
	return c.Model.GenerateContent(ctx, m, o...)
}

// A cancelled run distinguishes calls answered by a cache from calls in progress.
func TestCancelledWithCache(t *testing.T) {
	t.Parallel()
	cache, err := models.OpenStore(nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := cache.Model(llmtest.New(`{"total": 1}`), "")
	mustRun(t, module.NewPredict(adding, kept, nil), anything)
	underway := func(cancel func()) llms.Model {
		return cache.Model(llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
			cancel()
			<-ctx.Done()
			return llmtest.Reply{}, ctx.Err()
		}), "other")
	}
	for name, c := range map[string]struct {
		model func(cancel func()) llms.Model
		want  event.Usage
	}{
		"kept":     {func(cancel func()) llms.Model { return cutting{kept, cancel} }, event.Usage{Hits: 1}},
		"underway": {underway, event.Usage{Calls: 1}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := module.NewPredict(adding, c.model(cancel), nil).Run(ctx, anything)
		var part *module.IncompleteError
		if !errors.As(err, &part) || !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", name, err)
		}
		if got := part.Trajectory.Usage(); got != c.want {
			t.Errorf("%s: it cost %+v, want %+v", name, got, c.want)
		}
	}
}
