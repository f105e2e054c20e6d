package budget_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

func question(text string) []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
}

func ask(ctx context.Context, m llms.Model, options ...llms.CallOption) error {
	_, err := lm.Ask(ctx, m, lm.Call{}, question("Capital?"), options...)
	return err
}

// costing is a model with the same usage for every reply.
func costing(input, output int) *llmtest.Model {
	return llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "Paris", InputTokens: input, OutputTokens: output}, nil
	})
}

// slow is a model that takes a second, and uses as many tokens as it may.
func slow() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		time.Sleep(time.Second)
		return llmtest.Reply{Text: "Paris", InputTokens: 2, OutputTokens: r.Options.MaxTokens}, nil
	})
}

func spentError(t *testing.T, err error) *budget.Error {
	t.Helper()
	e, ok := errors.AsType[*budget.Error](err)
	if !ok || !errors.Is(err, budget.ErrSpent) {
		t.Fatalf("got %v, not the error of a budget", err)
	}
	return e
}

// Every limit refuses the call that would exceed it, and says what was spent.
func TestLimits(t *testing.T) {
	t.Parallel()
	prices := map[string]budget.Price{"": {Input: 1000, Output: 10000}} // 0.1 + 0.3 a call
	for name, c := range map[string]struct {
		limits budget.Limits
		calls  int // until one is refused
		want   string
	}{
		"calls":  {budget.Limits{Calls: 3}, 3, "3 model calls; spent: 3 calls, 300 input and 90 output tokens"},
		"input":  {budget.Limits{InputTokens: 250}, 3, "250 input tokens; spent: 3 calls, 300 input and 90 output tokens"},
		"output": {budget.Limits{OutputTokens: 60}, 2, "60 output tokens; spent: 2 calls, 200 input and 60 output tokens"},
		"tokens": {budget.Limits{Tokens: 131}, 1, "131 tokens; spent: 1 call, 100 input and 30 output tokens"},
		"cost": {budget.Limits{Cost: 0.75, Prices: prices}, 2,
			"a cost of 0.75; spent: 2 calls, 200 input and 60 output tokens, a cost of 0.8"},
		"two": {budget.Limits{Calls: 5, Tokens: 400}, 4, "400 tokens; spent: 4 calls, 400 input and 120 output tokens"},
	} {
		inner, ctx := costing(100, 30), budget.With(t.Context(), c.limits)
		if name == "two" {
			inner = costing(80, 20)
		}
		for range c.calls {
			if err := ask(ctx, inner); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		err := ask(ctx, inner)
		if failure, ok := errors.AsType[*models.Error](err); !ok || failure.Kind != models.KindOverBudget || failure.MaybeCharged {
			t.Errorf("%s: got %v", name, err)
		}
		want := "the budget allows no more than " + strings.Replace(c.want, "400 input and 120", "320 input and 80", 1)
		if e := spentError(t, err); e.Error() != want || e.Spent() != budget.Of(ctx).Spent() || !e.Binds(ctx) {
			t.Errorf("%s: got %v\nwant %s", name, err, want)
		}
		if n := len(inner.Requests()); n != c.calls {
			t.Errorf("%s: the model was called %d times", name, n)
		}
	}
}

// Zero means no limit. A budget without limits counts.
func TestZeroIsNoLimit(t *testing.T) {
	t.Parallel()
	ctx := budget.With(t.Context(), budget.Limits{})
	for range 3 {
		if err := ask(ctx, costing(7, 1)); err != nil {
			t.Error(err)
		}
	}
	want := budget.Spent{Calls: 3, InputTokens: 21, OutputTokens: 3, Unpriced: 3}
	if got := budget.Of(ctx).Spent(); got != want {
		t.Errorf("got %+v", got)
	}
	if left := budget.Of(ctx).Left(); left.Calls != math.MaxInt || left.Time != math.MaxInt64 {
		t.Errorf("%+v is left", left)
	}
	if b := budget.Of(t.Context()); b != nil || b.Spent() != (budget.Spent{}) || b.Left().Calls != math.MaxInt {
		t.Errorf("a context without a budget has %v", b)
	}
}

// A limit that is negative or not a number is not treated as no limit.
func TestInvalidLimits(t *testing.T) {
	t.Parallel()
	for want, limits := range map[string]budget.Limits{
		`budget: Limits.Calls is -1`:    {Calls: -1},
		`budget: Limits.Steps is -1`:    {Steps: -1},
		`budget: Limits.Tokens is -5`:   {Tokens: -5},
		`budget: Limits.Time is -1e+09`: {Time: -time.Second},
		`budget: Limits.Cost is NaN`:    {Cost: math.NaN()},
		`budget: Limits.Cost is +Inf`:   {Cost: math.Inf(1)},
		`budget: Limits.Prices["a"].Input is NaN`: {Cost: 1,
			Prices: map[string]budget.Price{"a": {Input: math.NaN()}}},
		`budget: Limits.Prices["a"].Output is -1`:        {Cost: 1, Prices: map[string]budget.Price{"a": {Output: -1}}},
		`budget: Limits.Prices["b"].CachedInput is +Inf`: {Prices: map[string]budget.Price{"b": {CachedInput: math.Inf(1)}}},
	} {
		inner := llmtest.New("Paris")
		err := ask(budget.With(budget.With(t.Context(), limits), budget.Limits{Calls: 1}), inner)
		failure, ok := errors.AsType[*models.Error](err)
		want = "the model: " + want + "; it must be zero, for no limit, or a positive number"
		if !ok || failure.Kind != models.KindInvalid || err.Error() != want || len(inner.Requests()) != 0 {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Under a limit of money, a model without a price is not called.
func TestUnpriced(t *testing.T) {
	t.Parallel()
	ctx := budget.With(t.Context(), budget.Limits{Cost: 1, Prices: map[string]budget.Price{"cheap": {Input: 1}}})
	cheap := costing(100, 30)
	named := cheap.With(models.Capabilities{Model: "cheap"})
	for name, call := range map[string]func() error{
		"dear":  func() error { return ask(ctx, named, llms.WithModel("dear")) },
		"other": func() error { return ask(ctx, budget.Model(named, "other")) },
		"":      func() error { return ask(ctx, cheap) },
	} {
		err := call()
		failure, ok := errors.AsType[*models.Error](err)
		if !ok || failure.Kind != models.KindInvalid || !strings.Contains(err.Error(), `no price for the model "`+name+`"`) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if len(cheap.Requests()) != 0 {
		t.Error("the model was called")
	}
	if err := errors.Join(ask(ctx, named), ask(ctx, budget.Model(cheap, "cheap"))); err != nil {
		t.Error(err)
	}
	if got := budget.Of(ctx).Spent().Cost; math.Abs(got-0.0002) > 1e-12 {
		t.Errorf("the cost is %g", got)
	}
}

// Calls are charged to all budgets, and an inner budget cannot widen an outer one.
func TestNested(t *testing.T) {
	t.Parallel()
	model := costing(10, 5)
	prices := map[string]budget.Price{"": {Input: 1e6}}
	outer := budget.With(t.Context(), budget.Limits{Calls: 3, Cost: 1000, Prices: prices})
	wide := budget.With(outer, budget.Limits{Calls: 100, Cost: 1e6, Prices: map[string]budget.Price{"": {}}})
	narrow := budget.With(outer, budget.Limits{Calls: 1})
	if left := budget.Of(wide).Left(); left.Calls != 3 || left.Cost != 1000 {
		t.Errorf("%+v is left", left)
	}
	if err := errors.Join(ask(narrow, model), ask(wide, model)); err != nil {
		t.Fatal(err)
	}
	if e := spentError(t, ask(narrow, model)); e.Limit != "1 model call" || e.Binds(outer) || !e.Binds(narrow) {
		t.Errorf("got %v", e)
	}
	if err := ask(wide, model); err != nil {
		t.Fatal(err)
	}
	if e := spentError(t, ask(wide, model)); e.Limit != "3 model calls" || !e.Binds(outer) || e.Binds(t.Context()) {
		t.Errorf("got %v", e)
	}
	if a, b, c := budget.Of(outer).Spent(), budget.Of(wide).Spent(), budget.Of(narrow).Spent(); a.Calls != 3 ||
		a.Cost != 30 || b.Calls != 2 || b.Cost != 20 || c.Calls != 1 || c.Cost != 10 {
		t.Errorf("spent %v, %v, %v", a, b, c)
	}
}

// Concurrent calls do not exceed a limit together. Calls whose replies might are made later.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	prices := map[string]budget.Price{"": {Input: 1, Output: 10}}
	for name, c := range map[string]struct {
		limits  budget.Limits
		options []llms.CallOption
		made    int
		rounds  int // the seconds that the calls take
	}{
		"calls":       {budget.Limits{Calls: 5}, nil, 5, 1},
		"tokens":      {budget.Limits{Tokens: 510}, []llms.CallOption{llms.WithMaxTokens(100)}, 5, 1},
		"output":      {budget.Limits{OutputTokens: 320}, []llms.CallOption{llms.WithMaxTokens(100)}, 4, 2},
		"input":       {budget.Limits{InputTokens: 9}, nil, 4, 1},
		"cost":        {budget.Limits{Cost: 0.00303, Prices: prices}, []llms.CallOption{llms.WithMaxTokens(100)}, 3, 1},
		"unknown":     {budget.Limits{Tokens: 5000}, nil, 1, 1},
		"concurrency": {budget.Limits{Calls: 6, Concurrency: 2}, []llms.CallOption{llms.WithMaxTokens(1)}, 6, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			model, ctx, began := slow(), budget.With(t.Context(), c.limits), time.Now()
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if err := ask(ctx, model, c.options...); err != nil && !errors.Is(err, budget.ErrSpent) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			s, l := budget.Of(ctx).Spent(), c.limits
			if s.Calls != c.made || len(model.Requests()) != c.made || time.Since(began) != time.Duration(c.rounds)*time.Second {
				t.Errorf("%s: %d calls within %v", name, s.Calls, time.Since(began))
			}
			if l.Tokens > 0 && s.InputTokens+s.OutputTokens > l.Tokens || l.OutputTokens > 0 && s.OutputTokens > l.OutputTokens ||
				l.Cost > 0 && s.Cost > l.Cost || l.InputTokens > 0 && s.InputTokens > l.InputTokens {
				t.Errorf("%s: spent %v", name, s)
			}
		})
	}
}

// What a call reserves is known from its options or from the capabilities of its model, and includes tools, schemas and
// thinking.
func TestReservation(t *testing.T) {
	t.Parallel()
	tool := llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: "f", Description: strings.Repeat("x", 4000)}}
	for name, c := range map[string]struct {
		can     models.Capabilities
		params  models.Params
		options []llms.CallOption
		want    int // tokens of output
		input   int // at least
	}{
		"options":      {models.Capabilities{MaxTokens: 70}, models.Params{}, []llms.CallOption{llms.WithMaxTokens(50)}, 50, 2},
		"capabilities": {models.Capabilities{MaxTokens: 70}, models.Params{ThinkingTokens: 5}, nil, 75, 2},
		"unknown":      {models.Capabilities{}, models.Params{}, nil, 16_000, 2},
		"replies":      {models.Capabilities{MaxTokens: 70}, models.Params{}, []llms.CallOption{llms.WithN(3)}, 210, 2},
		"tools":        {models.Capabilities{}, models.Params{}, []llms.CallOption{llms.WithTools([]llms.Tool{tool})}, 16_000, 1000},
		"schema": {models.Capabilities{}, models.Params{Schema: []byte(strings.Repeat(" ", 4000))}, nil, 16_000,
			1000},
	} {
		var left budget.Limits
		model := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
			left = budget.Of(ctx).Left()
			return llmtest.Reply{Text: "x"}, nil
		})
		ctx := models.WithParams(budget.With(t.Context(), budget.Limits{OutputTokens: 20_000, InputTokens: 20_000}), c.params)
		if err := ask(ctx, model.With(c.can), c.options...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if out, in := 20_000-left.OutputTokens, 20_000-left.InputTokens; out != c.want || in < c.input || in > c.input+100 {
			t.Errorf("%s: %d tokens of input and %d of output were reserved", name, in, out)
		}
	}
}

// A reply that the budget cuts off is an error, and so is a call that has no room for a reply.
func TestLoweredMaxTokens(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "Par", StopReason: "length", InputTokens: 2, OutputTokens: r.Options.MaxTokens}, nil
	})
	ctx := budget.With(t.Context(), budget.Limits{Tokens: 102})
	if e := spentError(t, ask(ctx, model)); e.Limit != "102 tokens" || e.Spent().OutputTokens != 100 {
		t.Errorf("got %v", e)
	}
	if _ = spentError(t, ask(ctx, model)); len(model.Requests()) != 1 || model.Requests()[0].Options.MaxTokens != 100 {
		t.Errorf("asked %d times", len(model.Requests()))
	}
	ctx = budget.With(t.Context(), budget.Limits{Tokens: 50_000})
	if err := ask(ctx, model); err != nil || model.Requests()[1].Options.MaxTokens != 0 {
		t.Errorf("got %v with %d tokens", err, model.Requests()[1].Options.MaxTokens)
	}
}

// Each attempt of a Retry and each model of a Fallback is charged, at its own price. Cached replies are free.
func TestWrappers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		small := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{}, &models.Error{Kind: models.KindTransient, MaybeCharged: true, Err: errors.New("down")}
		}).With(models.Capabilities{Model: "small"})
		large := costing(10, 5)
		cache, err := models.OpenStore(nil)
		if err != nil {
			t.Fatal(err)
		}
		model := cache.Model(models.Fallback(models.Retry(small, nil), budget.Model(large, "large")), "")
		ctx := budget.With(t.Context(), budget.Limits{Calls: 5, Cost: 1, Prices: map[string]budget.Price{
			"small": {Input: 1}, "large": {Input: 1000},
		}})
		if err := errors.Join(ask(ctx, model), ask(ctx, model)); err != nil {
			t.Fatal(err)
		}
		want := budget.Spent{Calls: 5, Cached: 1, InputTokens: 4*2 + 10, OutputTokens: 5, Estimated: 4, Cost: 0.010008}
		got := budget.Of(ctx).Spent()
		if got.Cost = math.Round(got.Cost*1e9) / 1e9; got != want {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		_, err = lm.Ask(ctx, model, lm.Call{}, question("Another?"))
		_ = spentError(t, err)
		// The model that is not tried because of its price is followed by one that is.
		ctx = budget.With(t.Context(), budget.Limits{Cost: 1, Prices: map[string]budget.Price{"dear": {Input: 1e9}, "cheap": {}}})
		if err := ask(ctx, models.Fallback(budget.Model(small, "dear"), budget.Model(large, "cheap"))); err != nil {
			t.Error(err)
		}
	})
}

// router is a model of a caller's own that calls another one.
type router struct {
	llms.Model
	calls, reports int
}

// GenerateContent implements [llms.Model].
func (r router) GenerateContent(ctx context.Context, messages []llms.MessageContent,
	options ...llms.CallOption) (*llms.ContentResponse, error) {
	for range r.calls {
		if _, err := lm.Generate(ctx, r.Model, messages, options...); err != nil {
			return nil, err
		}
	}
	info := map[string]any{"PromptTokens": r.reports}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "x", StopReason: "stop", GenerationInfo: info}}}, nil
}

// A model that calls other models is charged once: the greater of what it reports and of what these calls use.
func TestModelsWithinModels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r           router
		calls, want int
	}{
		{router{costing(10, 0), 1, 10}, 1, 10},
		{router{costing(10, 0), 1, 4}, 1, 10},
		{router{costing(10, 0), 1, 25}, 1, 25},
		{router{costing(10, 0), 3, 25}, 3, 30},
		{router{router{costing(10, 0), 2, 1}, 2, 50}, 4, 50},
	} {
		ctx := budget.With(t.Context(), budget.Limits{Calls: c.calls, Tokens: 1000})
		err := ask(ctx, c.r)
		if s := budget.Of(ctx).Spent(); err != nil || s.Calls != c.calls || s.InputTokens != c.want {
			t.Errorf("%d calls that report %d: spent %v, %v", c.r.calls, c.r.reports, s, err)
		}
		if left := budget.Of(ctx).Left(); left.Tokens != 1000-c.want-budget.Of(ctx).Spent().OutputTokens {
			t.Errorf("%d tokens are left", left.Tokens)
		}
	}
	ctx := budget.With(t.Context(), budget.Limits{Calls: 2})
	if _ = spentError(t, ask(ctx, router{costing(10, 0), 3, 25})); budget.Of(ctx).Spent().Calls != 2 {
		t.Errorf("spent %v", budget.Of(ctx).Spent())
	}
}

// The time of a budget is the deadline of the context, and its cause is the budget's error.
func TestTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := budget.With(t.Context(), budget.Limits{Time: 1500 * time.Millisecond})
		ctx = budget.With(ctx, budget.Limits{Time: time.Hour})
		model := slow()
		if err := ask(ctx, model); err != nil || budget.Of(ctx).Left().Time != time.Second/2 {
			t.Errorf("%v, %v is left", err, budget.Of(ctx).Left().Time)
		}
		err := ask(ctx, model)
		e := spentError(t, err)
		if e.Limit != "1.5s" || e.Spent().Calls != 2 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v after %v", err, e.Spent())
		}
	})
}

// panics is a model that panics.
type panics struct{ llms.Model }

// GenerateContent implements [llms.Model].
func (panics) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse,
	error) {
	panic("at the model")
}

// A call that waits for others ends with the time of the budget.
func TestTimeWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := budget.With(t.Context(), budget.Limits{Time: 1500 * time.Millisecond, Concurrency: 1})
		var all sync.WaitGroup
		model := slow()
		for range 4 {
			all.Go(func() {
				if err := ask(ctx, model); err != nil {
					_ = spentError(t, err)
				}
			})
		}
		all.Wait()
		if n := len(model.Requests()); n != 2 {
			t.Errorf("%d calls were made", n)
		}
	})
}

// A model that panics does not leave its call in progress.
func TestPanic(t *testing.T) {
	t.Parallel()
	ctx := budget.With(t.Context(), budget.Limits{Calls: 2, Concurrency: 1})
	for range 2 {
		if err := ask(ctx, router{calls: 1, Model: panics{}}); err == nil || errors.Is(err, budget.ErrSpent) {
			t.Errorf("got %v", err)
		}
	}
	if left := budget.Of(ctx).Left(); left.Concurrency != 1 || left.Calls != 0 {
		t.Errorf("%+v is left", left)
	}
}

// Absurdly large numbers count as very large.
func TestHugeUsage(t *testing.T) {
	t.Parallel()
	ctx := budget.With(t.Context(), budget.Limits{Tokens: 2000})
	model := router{reports: math.MaxInt}
	if err := ask(ctx, model); err != nil {
		t.Fatal(err)
	}
	if e := spentError(t, ask(ctx, model)); e.Spent().InputTokens != 1<<30 {
		t.Errorf("spent %v", e.Spent())
	}
}
