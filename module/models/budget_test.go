package models_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
)

// The cost depends on what the provider reads from its cache and writes there.
func TestBudgetCost(t *testing.T) {
	t.Parallel()
	s := serve(t,
		says(`{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500,
		"prompt_tokens_details":{"cached_tokens":800},"completion_tokens_details":{"reasoning_tokens":400}}}`))
	for name, c := range map[string]struct {
		price budget.Price
		cost  float64
	}{
		"plain":  {budget.Price{Input: 1, Output: 10}, (1000*1 + 500*10) / 1e6},
		"cached": {budget.Price{Input: 1, Output: 10, CachedInput: 0.1}, (200*1 + 800*0.1 + 500*10) / 1e6},
		"everything": {budget.Price{Input: 1, Output: 10, CachedInput: 0.5, CacheWrite: 99},
			(200*1 + 800*0.5 + 500*10) / 1e6},
	} {
		ctx := budget.With(t.Context(), budget.Limits{Prices: map[string]budget.Price{"a": c.price, "b": {Input: 1e6}}})
		if _, err := ask(ctx, budget.Model(openAI.open(t, s.URL), "a")); err != nil {
			t.Fatal(err)
		}
		got := budget.Of(ctx).Spent()
		if math.Abs(got.Cost-c.cost) > 1e-12 || got.ReasoningTokens != 400 || got.InputTokens != 1000 ||
			got.OutputTokens != 500 {
			t.Errorf("%s: got %+v, want a cost of %g", name, got, c.cost)
		}
	}
	// Anthropic counts cached tokens, read or written, in addition to the input.
	s = serve(t,
		says(`{"type":"message","content":[{"type":"text","text":"Paris"}],"stop_reason":"end_turn",`+
			`"usage":{"input_tokens":100,"output_tokens":10,"cache_read_input_tokens":1000,"cache_creation_input_tokens":200}}`))
	ctx := budget.With(t.Context(), budget.Limits{Prices: map[string]budget.Price{"other": {Input: 3, Output: 15,
		CachedInput: 0.3, CacheWrite: 3.75}}})
	if _, err := lm.Ask(ctx, anthropicAI.open(t, s.URL), lm.Call{}, question("Capital?"),
		llms.WithModel("other")); err != nil {
		t.Fatal(err)
	}
	if want, got := (100*3+1000*0.3+200*3.75+10*15)/1e6, budget.Of(ctx).Spent(); math.Abs(got.Cost-want) > 1e-12 {
		t.Errorf("got %+v, want a cost of %g", got, want)
	}
}

// If the provider does not report the usage of a call, it is estimated, also if the call fails after its reply has
// begun. A refused call costs nothing.
func TestBudgetEstimates(t *testing.T) {
	t.Parallel()
	silent := serve(t, says(`{"choices":[{"message":{"content":"12345678"},"finish_reason":"stop"}]}`))
	begun := serve(t, cuts("application/json", `{"choices":`))
	stream := serve(t, streams(openAI.stream()[2:]...))
	overloaded := serve(t, streams(append(anthropicAI.stream()[:7:7], "event: error\n"+
		`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)...))
	guess := budget.Spent{Calls: 1, InputTokens: 2, Estimated: 1, Unpriced: 1}
	replied := guess
	replied.OutputTokens = 2
	for name, c := range map[string]struct {
		model llms.Model
		heard func(context.Context, []byte) error // returns what the caller says about a chunk
		want  budget.Spent
	}{
		"no usage":    {openAI.open(t, silent.URL), nil, replied},
		"cut":         {openAI.open(t, begun.URL), nil, guess},
		"turned away": {script(errOverloaded), nil, budget.Spent{Calls: 1, Unpriced: 1}},
		"the caller stops": {openAI.open(t, stream.URL),
			func(context.Context, []byte) error { return errors.New("enough") }, guess},
		"an error in a stream": {anthropicAI.open(t, overloaded.URL),
			func(context.Context, []byte) error { return nil }, guess},
	} {
		ctx := budget.With(t.Context(), budget.Limits{})
		_, _ = lm.Generate(ctx, c.model, question("Capital?"), llms.WithStreamingFunc(c.heard))
		if got := budget.Of(ctx).Spent(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
	ctx, cancel := context.WithCancel(budget.With(t.Context(), budget.Limits{Calls: 1}))
	cancel()
	_, _ = ask(ctx, script())
	if got := budget.Of(ctx).Spent(); got != (budget.Spent{}) {
		t.Errorf("a call that was not made cost %+v", got)
	}
}
