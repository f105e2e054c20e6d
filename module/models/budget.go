package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/lm"
)

// Limits are the limits of a [Budget]. Zero means no limit.
type Limits struct {
	Calls        int     // model calls
	InputTokens  int     // tokens in all requests
	OutputTokens int     // tokens in all replies, including reasoning
	Tokens       int     // InputTokens and OutputTokens together
	Cost         float64 // in the currency of Prices

	// Prices maps model names to prices. A model's name is the one passed to [Budget.Model], or to llms.WithModel if a
	// call has that option. If Cost is limited, calls to a model without a price fail.
	Prices map[string]Price
}

// Price is the price of a model per million tokens. Reasoning costs as much as other output.
type Price struct {
	Input  float64
	Output float64

	// CachedInput is the price of input that the provider reads from its own cache, and
	// CacheWrite is the price of input that it writes there. Zero means the price of Input.
	CachedInput, CacheWrite float64
}

func (p Price) of(u lm.Usage) float64 {
	plain := max(u.Input-u.CachedInput-u.CacheWrite, 0)
	return (float64(plain)*p.Input + float64(u.CachedInput)*cmp.Or(p.CachedInput, p.Input) +
		float64(u.CacheWrite)*cmp.Or(p.CacheWrite, p.Input) + float64(u.Output)*p.Output) / 1e6
}

// Spent is the amount that was spent of a [Budget].
type Spent struct {
	Calls           int // model calls, including failed ones
	Cached          int // calls answered by a cache, which are free and not in Calls
	InputTokens     int
	OutputTokens    int
	ReasoningTokens int     // the part of OutputTokens that was reasoning
	Cost            float64 // in the currency of the prices
	Estimated       int     // calls without token counts from the provider, estimated at 4 bytes per token
	Unpriced        int     // calls to models without a price; not in Cost
}

// String returns a summary on one line.
func (s Spent) String() string {
	text := fmt.Sprintf("%s, %d input and %d output tokens",
		display.Plural(s.Calls, "call"), s.InputTokens, s.OutputTokens)
	if s.Cost > 0 {
		text += fmt.Sprintf(", a cost of %.4g", s.Cost)
	}
	if s.Cost > 0 && s.Unpriced > 0 {
		text += fmt.Sprintf(" without %s that have no price", display.Plural(s.Unpriced, "call"))
	}
	if s.Cached > 0 {
		text += fmt.Sprintf(", %s answered by a cache", display.Plural(s.Cached, "call"))
	}
	if s.Estimated > 0 {
		text += fmt.Sprintf(", the tokens of %s estimated", display.Plural(s.Estimated, "call"))
	}
	return text
}

// Budget limits the total cost of several models. It is safe for concurrent use.
type Budget struct {
	limits Limits
	bad    error // why a limit or price is invalid

	mu       sync.Mutex
	spent    Spent
	underway int     // calls in progress
	asked    int     // the estimated input tokens of these calls
	owed     float64 // the cost of those tokens
}

// NewBudget returns an unspent budget. If a limit or a price is negative or not a
// number, every call fails with an error of kind [KindInvalid].
func NewBudget(limits Limits) *Budget { return &Budget{limits: limits, bad: limits.check()} }

// check returns an error for a value that would silently disable a limit.
func (l Limits) check() error {
	numbers := map[string]float64{
		"Calls": float64(l.Calls), "InputTokens": float64(l.InputTokens), "OutputTokens": float64(l.OutputTokens),
		"Tokens": float64(l.Tokens), "Cost": l.Cost,
	}
	for model, p := range l.Prices {
		at := fmt.Sprintf("Prices[%q].", model)
		maps.Copy(numbers, map[string]float64{
			at + "Input": p.Input, at + "Output": p.Output, at + "CachedInput": p.CachedInput,
			at + "CacheWrite": p.CacheWrite,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if n := numbers[name]; !(n >= 0) || math.IsInf(n, 1) {
			return fmt.Errorf("budget: Limits.%s is %g; it must be zero or a positive number", name, n)
		}
	}
	return nil
}

// Spent returns the amounts spent so far, without calls in progress.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Model returns a model whose calls are counted by the budget. The name selects the price, unless a call names a
// different model with llms.WithModel.
//
// A call fails without reaching the model, with an *[Error] of kind [KindOverBudget] that wraps a *[BudgetError], if a
// limit is reached or if the request alone would exceed it. The number of calls is never exceeded. A reply's cost is
// known only after it has arrived, so replies in progress may exceed the token and cost limits.
func (b *Budget) Model(model llms.Model, name string) llms.Model {
	return lm.Wrap(model, func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		if b == nil {
			return nil, &Error{Kind: KindInvalid, Err: errors.New("the budget is nil; make one with NewBudget")}
		}
		if ctx.Err() != nil {
			return nil, lm.CancelledBy(ctx)
		}
		asked := cmp.Or(lm.Options(options).Model, name)
		price, priced := b.limits.Prices[asked]
		guess := lm.Usage{Input: estimate(messages)}
		if err := b.reserve(asked, guess, price, priced); err != nil {
			return nil, err
		}
		bill := bill{guess: guess}
		defer func() { b.settle(bill, price, priced) }()
		response, err := lm.Generate(ctx, model, messages, options...)
		bill = billOf(response, err, guess)
		return response, err
	})
}

func (b *Budget) reserve(name string, guess lm.Usage, price Price, priced bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bad != nil {
		return &Error{Kind: KindInvalid, Err: b.bad}
	}
	if !priced && b.limits.Cost > 0 {
		return &Error{Kind: KindInvalid, Err: fmt.Errorf(
			"the budget limits the cost but has no price for the model %q; add it to Limits.Prices", name)}
	}
	if reached := b.reached(guess.Input, price.of(guess)); reached != "" {
		return &Error{Kind: KindOverBudget, Err: &BudgetError{Limit: reached, Spent: b.spent}}
	}
	b.underway++
	b.asked += guess.Input
	b.owed += price.of(guess)
	return nil
}

// reached returns the limit that forbids another call, or "".
func (b *Budget) reached(input int, cost float64) string {
	s, l := b.spent, b.limits
	input += b.asked
	cost += b.owed
	switch {
	case l.Calls > 0 && s.Calls+b.underway >= l.Calls:
		return display.Plural(l.Calls, "call")
	case l.InputTokens > 0 && s.InputTokens+input > l.InputTokens:
		return fmt.Sprintf("%d input tokens", l.InputTokens)
	case l.OutputTokens > 0 && s.OutputTokens >= l.OutputTokens:
		return fmt.Sprintf("%d output tokens", l.OutputTokens)
	case l.Tokens > 0 && s.InputTokens+s.OutputTokens+input >= l.Tokens:
		return fmt.Sprintf("%d tokens", l.Tokens)
	case l.Cost > 0 && s.Cost+cost >= l.Cost:
		return fmt.Sprintf("a cost of %g", l.Cost)
	}
	return ""
}

// bill is the cost of one call.
type bill struct {
	usage     lm.Usage
	guess     lm.Usage
	estimated bool
	cached    bool
}

// billOf returns the bill of a call. If the provider did not report the tokens, the bill has an estimate.
func billOf(response *llms.ContentResponse, err error, guess lm.Usage) bill {
	reply := lm.Merge(response)
	b := bill{usage: reply.Usage, guess: guess, cached: reply.Cached}
	if b.cached || b.usage != (lm.Usage{}) {
		return b
	}
	failure := (*Error)(nil)
	if errors.As(err, &failure) && !failure.MaybeCharged {
		return b
	}
	b.estimated = true
	n := len(reply.Text) + len(reply.Reasoning)
	for _, call := range reply.ToolCalls {
		n += len(call.FunctionCall.Name) + len(call.FunctionCall.Arguments)
	}
	b.usage = lm.Usage{Input: guess.Input, Output: (n + 3) / 4}
	return b
}

func (b *Budget) settle(bill bill, price Price, priced bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.underway--
	b.asked -= bill.guess.Input
	if b.owed -= price.of(bill.guess); b.underway == 0 {
		b.owed = 0 // remove rounding errors
	}
	if bill.cached {
		b.spent.Cached++
		return
	}
	b.spent.Calls++
	b.spent.InputTokens += bill.usage.Input
	b.spent.OutputTokens += bill.usage.Output
	b.spent.ReasoningTokens += bill.usage.Reasoning
	b.spent.Cost += price.of(bill.usage)
	if bill.estimated {
		b.spent.Estimated++
	}
	if !priced {
		b.spent.Unpriced++
	}
}

// BudgetError reports that a call would exceed one of a [Budget]'s limits.
type BudgetError struct {
	Limit string // such as "100 calls"
	Spent Spent  // the amounts spent before
}

// Error names the limit and the amounts spent.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("the budget of %s allows no further model call; spent: %s", e.Limit, e.Spent)
}

// estimate returns the approximate number of tokens in messages. Binary parts do not count, since providers price them
// separately.
func estimate(messages []llms.MessageContent) int {
	n := 0
	for _, m := range messages {
		n += len(lm.TextOf(m))
	}
	return (n + 3) / 4
}
