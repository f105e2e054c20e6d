package models_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// costing is a model with the same usage for every reply.
func costing(input, output int) *llmtest.Model {
	return llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "Paris", InputTokens: input, OutputTokens: output}, nil
	})
}

func overBudget(t *testing.T, err error) *models.BudgetError {
	t.Helper()
	e := (*models.BudgetError)(nil)
	if !errors.As(err, &e) || failure(t, err).Kind != models.KindOverBudget {
		t.Fatalf("%v is not a BudgetError", err)
	}
	return e
}

func TestBudgetLimits(t *testing.T) {
	t.Parallel()
	prices := map[string]models.Price{"a": {Input: 1000, Output: 10000}} // 0.1 + 0.3 a call
	for name, c := range map[string]struct {
		limits models.Limits
		calls  int // until one is refused
		want   string
	}{
		"calls": {models.Limits{Calls: 3}, 3,
			"the budget of 3 calls allows no further model call; spent: 3 calls, 300 input and 90 output tokens"},
		"input": {models.Limits{InputTokens: 250}, 3,
			"the budget of 250 input tokens allows no further model call; spent: 3 calls, 300 input and 90 output " +
				"tokens"},
		"output": {models.Limits{OutputTokens: 60}, 2,
			"the budget of 60 output tokens allows no further model call; spent: 2 calls, 200 input and 60 output " +
				"tokens"},
		"tokens": {models.Limits{Tokens: 131}, 1,
			"the budget of 131 tokens allows no further model call; spent: 1 call, 100 input and 30 output tokens"},
		"cost": {models.Limits{Cost: 0.75, Prices: prices}, 2,
			"the budget of a cost of 0.75 allows no further model call; spent: 2 calls, 200 input and 60 output " +
				"tokens, a cost of 0.8"},
	} {
		inner := costing(100, 30)
		budget := models.NewBudget(c.limits)
		model := budget.Model(inner, "a")
		for range c.calls {
			if _, err := ask(t.Context(), model); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		_, err := ask(t.Context(), model)
		if e := overBudget(t, err); err.Error() != c.want || e.Spent != budget.Spent() {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if n := len(inner.Requests()); n != c.calls {
			t.Errorf("%s: the model was called %d times", name, n)
		}
	}
}

func TestBudgetCost(t *testing.T) {
	t.Parallel()
	s := serve(t,
		says(`{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500,
		"prompt_tokens_details":{"cached_tokens":800},"completion_tokens_details":{"reasoning_tokens":400}}}`))
	for name, c := range map[string]struct {
		price models.Price
		cost  float64
	}{
		"plain":  {models.Price{Input: 1, Output: 10}, (1000*1 + 500*10) / 1e6},
		"cached": {models.Price{Input: 1, Output: 10, CachedInput: 0.1}, (200*1 + 800*0.1 + 500*10) / 1e6},
		"everything": {models.Price{Input: 1, Output: 10, CachedInput: 0.5, CacheWrite: 99},
			(200*1 + 800*0.5 + 500*10) / 1e6},
	} {
		budget := models.NewBudget(models.Limits{Prices: map[string]models.Price{"a": c.price, "b": {Input: 1e6}}})
		mustAsk(t, budget.Model(openAI.open(t, s.URL), "a"), lm.Call{}, question("Capital?"))
		got := budget.Spent()
		if math.Abs(got.Cost-c.cost) > 1e-12 || got.ReasoningTokens != 400 || got.InputTokens != 1000 ||
			got.OutputTokens != 500 {
			t.Errorf("%s: got %+v, want a cost of %g", name, got, c.cost)
		}
	}
	// Anthropic counts cached tokens, read or written, in addition to the input.
	s = serve(t,
		says(`{"type":"message","content":[{"type":"text","text":"Paris"}],"stop_reason":"end_turn",`+
			`"usage":{"input_tokens":100,"output_tokens":10,"cache_read_input_tokens":1000,"cache_creation_input_tokens":200}}`))
	budget := models.NewBudget(models.Limits{Prices: map[string]models.Price{"other": {Input: 3, Output: 15,
		CachedInput: 0.3, CacheWrite: 3.75}}})
	if _, err := lm.Ask(t.Context(), budget.Model(anthropicAI.open(t, s.URL), "a"), lm.Call{}, question("Capital?"),
		llms.WithModel("other")); err != nil {
		t.Fatal(err)
	}
	if want := (100*3 + 1000*0.3 + 200*3.75 + 10*15) / 1e6; math.Abs(budget.Spent().Cost-want) > 1e-12 {
		t.Errorf("got %+v, want a cost of %g", budget.Spent(), want)
	}
}

func TestBudgetWithoutPrice(t *testing.T) {
	t.Parallel()
	inner := costing(1, 1)
	_, err := ask(t.Context(), models.NewBudget(models.Limits{Cost: 1}).Model(inner, "a"))
	const want = `the model: the budget limits the cost but has no price for the model "a"; add it to Limits.Prices`
	if e := failure(t, err); e.Kind != models.KindInvalid || err.Error() != want || len(inner.Requests()) != 0 {
		t.Errorf("got %v", err)
	}
	budget := models.NewBudget(models.Limits{})
	mustAsk(t, budget.Model(inner, "a"), lm.Call{}, question("Capital?"))
	if got := budget.Spent(); got != (models.Spent{Calls: 1, InputTokens: 1, OutputTokens: 1, Unpriced: 1}) {
		t.Errorf("got %+v", got)
	}
}

// If the provider does not report the usage of a call, it is estimated. A refused call costs
// nothing.
func TestBudgetEstimates(t *testing.T) {
	t.Parallel()
	silent := serve(t, says(`{"choices":[{"message":{"content":"12345678"},"finish_reason":"stop"}]}`))
	begun := serve(t, cuts("application/json", `{"choices":`))
	for name, c := range map[string]struct {
		model llms.Model
		want  models.Spent
	}{
		"no usage": {openAI.open(t, silent.URL), models.Spent{Calls: 1, InputTokens: 2, OutputTokens: 2, Estimated: 1,
			Unpriced: 1}},
		"cut":         {openAI.open(t, begun.URL), models.Spent{Calls: 1, InputTokens: 2, Estimated: 1, Unpriced: 1}},
		"turned away": {script(errOverloaded), models.Spent{Calls: 1, Unpriced: 1}},
	} {
		budget := models.NewBudget(models.Limits{})
		_, _ = ask(t.Context(), budget.Model(c.model, "a"))
		if got := budget.Spent(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
	budget := models.NewBudget(models.Limits{Calls: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = budget.Model(script(), "a").GenerateContent(ctx, question("Capital?"))
	if got := budget.Spent(); got != (models.Spent{}) {
		t.Errorf("a call that was not made cost %+v", got)
	}
}

// Concurrent calls, through several models, do not exceed the limit of calls.
func TestBudgetConcurrent(t *testing.T) {
	t.Parallel()
	budget := models.NewBudget(models.Limits{Calls: 50})
	a, b := costing(1, 1), costing(1, 1)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { _, _ = ask(t.Context(), budget.Model(a, "a")) })
		wg.Go(func() { _, _ = ask(t.Context(), budget.Model(b, "b")) })
	}
	wg.Wait()
	if n := len(a.Requests()) + len(b.Requests()); n != 50 || budget.Spent().Calls != 50 {
		t.Errorf("%d calls, %+v", n, budget.Spent())
	}
}

// The input of calls in progress counts.
func TestBudgetUnderWay(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	slow := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		asked <- struct{}{}
		<-release
		return llmtest.Reply{Text: "Paris", InputTokens: 1, OutputTokens: 1}, nil
	})
	budget := models.NewBudget(models.Limits{InputTokens: 3})
	model := budget.Model(slow, "a")
	done := make(chan error)
	go func() {
		_, err := ask(t.Context(), model)
		done <- err
	}()
	<-asked
	if _, err := ask(t.Context(), model); overBudget(t, err).Limit != "3 input tokens" {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	go func() { <-asked }()
	if _, err := ask(t.Context(), model); err != nil {
		t.Errorf("calls that ended count as in progress: %v", err)
	}
}

// A model that panics does not leave its call in progress.
func TestBudgetPanic(t *testing.T) {
	t.Parallel()
	budget := models.NewBudget(models.Limits{Calls: 2})
	for range 2 {
		if _, err := ask(t.Context(), budget.Model(panics{}, "a")); failure(t, err).Kind != models.KindUnknown {
			t.Errorf("got %v", err)
		}
	}
	if _, err := ask(t.Context(), budget.Model(script(), "a")); overBudget(t, err).Spent.Calls != 2 {
		t.Errorf("got %v", err)
	}
}

// The cost of calls in progress is reserved.
func TestBudgetReservesCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			time.Sleep(time.Second)
			return llmtest.Reply{Text: "Paris", InputTokens: 90_000}, nil
		})
		budget := models.NewBudget(models.Limits{Cost: 1, Prices: map[string]models.Price{"a": {Input: 5}}})
		model := budget.Model(inner, "a")
		var wg sync.WaitGroup
		var refused atomic.Int32
		for range 20 {
			wg.Go(func() {
				_, err := lm.Ask(t.Context(), model, lm.Call{}, question(strings.Repeat("abcd", 90_000)))
				if err != nil && overBudget(t, err).Limit == "a cost of 1" {
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		if n := len(inner.Requests()); n != 2 || refused.Load() != 18 {
			t.Errorf("asked %d times, refused %d: %+v", n, refused.Load(), budget.Spent())
		}
	})
}

// A limit that is NaN is not treated as no limit.
func TestBudgetOfNonsense(t *testing.T) {
	t.Parallel()
	for want, limits := range map[string]models.Limits{
		`budget: Limits.Calls is -1`:  {Calls: -1},
		`budget: Limits.Tokens is -5`: {Tokens: -5},
		`budget: Limits.Cost is NaN`:  {Cost: math.NaN()},
		`budget: Limits.Cost is +Inf`: {Cost: math.Inf(1)},
		`budget: Limits.Prices["a"].Input is NaN`: {Cost: 1,
			Prices: map[string]models.Price{"a": {Input: math.NaN()}}},
		`budget: Limits.Prices["a"].Output is -1`:        {Cost: 1, Prices: map[string]models.Price{"a": {Output: -1}}},
		`budget: Limits.Prices["b"].CachedInput is +Inf`: {Prices: map[string]models.Price{"b": {CachedInput: math.Inf(1)}}},
	} {
		inner := script()
		_, err := ask(t.Context(), models.NewBudget(limits).Model(inner, "a"))
		if want = "the model: " + want + "; it must be zero or a positive number"; failure(t,
			err).Kind != models.KindInvalid || err.Error() != want || len(inner.Requests()) != 0 {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A call that names another model is not charged at the price of this one.
func TestBudgetOtherModel(t *testing.T) {
	t.Parallel()
	inner := costing(100, 30)
	budget := models.NewBudget(models.Limits{Cost: 1, Prices: map[string]models.Price{"cheap": {Input: 1}}})
	_, err := lm.Ask(t.Context(), budget.Model(inner, "cheap"), lm.Call{}, question("Capital?"), llms.WithModel("dear"))
	if failure(t, err).Kind != models.KindInvalid ||
		err.Error() != `the model: the budget limits the cost but has no price for the model "dear"; add it to `+
			`Limits.Prices` || len(inner.Requests()) != 0 {
		t.Errorf("got %v", err)
	}
}

// Absurdly large numbers count as very large, and negative ones as zero.
func TestBudgetHugeUsage(t *testing.T) {
	t.Parallel()
	for _, n := range []any{math.MaxInt, 1e300, math.Inf(1), float64(math.MaxInt64)} {
		inner := saying(map[string]any{"PromptTokens": n, "CompletionTokens": n})
		budget := models.NewBudget(models.Limits{Tokens: 2000})
		model := budget.Model(inner, "a")
		mustAsk(t, model, lm.Call{}, question("Capital?"))
		if _, err := ask(t.Context(), model); overBudget(t, err).Spent != (models.Spent{Calls: 1, InputTokens: 1 << 30,
			OutputTokens: 1 << 30, Unpriced: 1}) {
			t.Errorf("%v: got %+v", n, budget.Spent())
		}
	}
}

// saying is a model that replies "Paris" with the given usage.
func saying(info map[string]any) llms.Model {
	return told(func() (*llms.ContentResponse, error) {
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "Paris", StopReason: "stop",
			GenerationInfo: info}}}, nil
	})
}

// told is a model made from a function.
type told func() (*llms.ContentResponse, error)

// GenerateContent implements [llms.Model].
func (f told) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse,
	error) {
	return f()
}

// Call implements [llms.Model].
func (f told) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

// A call that failed after its reply had begun is charged.
func TestBudgetOfBegunAnswers(t *testing.T) {
	t.Parallel()
	stream := serve(t, streams(openAI.stream()[2:]...))
	overloaded := serve(t, streams(append(anthropicAI.stream()[:7:7], "event: error\n"+
		`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)...))
	for name, c := range map[string]struct {
		model llms.Model
		heard error // what the caller returns for a chunk
	}{
		"the caller stops":     {openAI.open(t, stream.URL), errors.New("enough")},
		"an error in a stream": {anthropicAI.open(t, overloaded.URL), nil},
	} {
		budget := models.NewBudget(models.Limits{})
		_, err := budget.Model(c.model, "a").GenerateContent(t.Context(), question("Capital?"),
			llms.WithStreamingFunc(func(context.Context, []byte) error { return c.heard }))
		if e := failure(t, err); !e.MaybeCharged ||
			budget.Spent() != (models.Spent{Calls: 1, InputTokens: 2, Estimated: 1, Unpriced: 1}) {
			t.Errorf("%s: %v, spent %+v", name, err, budget.Spent())
		}
	}
}

// panics is a model that panics.
type panics struct{ llms.Model }

// GenerateContent implements [llms.Model].
func (panics) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse,
	error) {
	panic("at the model")
}
