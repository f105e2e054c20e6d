package budget

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/module/internal/lm"
)

// Limits are the limits of a [Budget]. Zero means no limit. If a limit or a price is negative or not a number, every
// model call and tool call fails.
type Limits struct {
	Time         time.Duration // since With; the context gets a deadline
	Steps        int           // requests of modules to their models, together
	Calls        int           // model calls
	ToolCalls    int           // calls that reach a tool, including llm and rlm in programs
	InputTokens  int           // tokens in all requests
	OutputTokens int           // tokens in all replies, including reasoning
	Tokens       int           // InputTokens and OutputTokens together
	Cost         float64       // in the currency of Prices
	Concurrency  int           // model calls at the same time; further calls wait
	Depth        int           // modules that run as tools of modules, within each other

	// Prices maps model names to prices. A model's name is that of llms.WithModel if a call has that option, or else
	// the name passed to [Model], or else the one in the model's Capabilities, or else "". If Cost is limited, calls of
	// a model without a price fail. For a model with a price in an outer budget, that price applies.
	//
	// A model of your own that calls other models is charged what it reports or, if that is more, what these calls are
	// charged. If it reports nothing of its own, its price may be the zero Price.
	Prices map[string]Price
}

// check returns an error for a value that would silently disable a limit.
func (l Limits) check() error {
	numbers := map[string]float64{
		"Time": float64(l.Time), "Steps": float64(l.Steps), "Calls": float64(l.Calls),
		"ToolCalls": float64(l.ToolCalls), "InputTokens": float64(l.InputTokens),
		"OutputTokens": float64(l.OutputTokens), "Tokens": float64(l.Tokens), "Cost": l.Cost,
		"Concurrency": float64(l.Concurrency), "Depth": float64(l.Depth),
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
			return fmt.Errorf("budget: Limits.%s is %g; it must be zero, for no limit, or a positive number", name, n)
		}
	}
	return nil
}

// Budget is the budget of a context. It is safe for concurrent use.
type Budget struct {
	node   node
	limits Limits
	bad    error // why a limit or price is invalid
	ends   time.Time
	depth  int         // of the modules around it
	run    durable.Run // the run within which it began, or nil
	path   bool        // the module that made it tells its model what is left: see lm.CountAll
}

// With returns a context with a new budget, within the budgets of ctx.
func With(ctx context.Context, l Limits) context.Context {
	outer := nodeOf(ctx)
	b := &Budget{
		limits: l, bad: l.check(), depth: depthOf(ctx), run: durable.Of(ctx), path: lm.CountsAll(ctx),
	}
	b.node = node{outer: outer, tree: &tree{changed: make(chan struct{})}, budget: b}
	if outer != nil {
		b.node.tree = outer.tree
		if prices := outer.nearest().limits.Prices; len(l.Prices) == 0 {
			b.limits.Prices = prices
		} else {
			b.limits.Prices = maps.Clone(l.Prices)
			maps.Copy(b.limits.Prices, prices)
		}
	}
	ctx = withPolicy(lm.WithMeter(lm.CountAll(ctx, false), &b.node))
	if b.bad != nil || l.Time == 0 {
		return ctx
	}
	b.ends = time.Now().Add(l.Time)
	ctx, cancel := context.WithDeadlineCause(ctx, b.ends, &Error{Limit: l.Time.String(), budget: b, live: true})
	context.AfterFunc(ctx, cancel) // nothing is held after the deadline, or after the outer context has ended
	return ctx
}

// Of returns the innermost budget of a context, or nil. The methods of a nil Budget return what they would return for
// a budget without limits, of which nothing was spent.
func Of(ctx context.Context) *Budget {
	if n := nodeOf(ctx); n != nil {
		return n.nearest()
	}
	return nil
}

// all returns the budget and those around it.
func (b *Budget) all() (list []*Budget) {
	if b == nil {
		return nil
	}
	for n := &b.node; n != nil; n = n.outer {
		if n.budget != nil {
			list = append(list, n.budget)
		}
	}
	return list
}

// Spent returns what was spent so far, without calls in progress.
func (b *Budget) Spent() Spent {
	if b == nil {
		return Spent{}
	}
	b.node.tree.Lock()
	defer b.node.tree.Unlock()
	return b.node.spent
}

// Left returns what this budget and those around it leave, besides what calls in progress may use. A limit that none of
// them has is the highest number of its type. Prices are those of the budget.
func (b *Budget) Left() Limits {
	const most = math.MaxInt
	left := Limits{Time: math.MaxInt64, Steps: most, Calls: most, ToolCalls: most, InputTokens: most,
		OutputTokens: most, Tokens: most, Cost: math.MaxFloat64, Concurrency: most, Depth: most}
	if b == nil {
		return left
	}
	b.node.tree.Lock()
	defer b.node.tree.Unlock()
	left.Prices = maps.Clone(b.limits.Prices)
	for _, b := range b.all() {
		l, used := b.limits, b.node.spent.plus(b.node.held)
		for _, x := range []struct {
			left        *int
			limit, used int
		}{
			{&left.Steps, l.Steps, used.Steps}, {&left.Calls, l.Calls, b.calls()},
			{&left.ToolCalls, l.ToolCalls, used.ToolCalls}, {&left.InputTokens, l.InputTokens, used.InputTokens},
			{&left.OutputTokens, l.OutputTokens, used.OutputTokens}, {&left.Tokens, l.Tokens, used.tokens()},
			{&left.Concurrency, l.Concurrency, b.node.underway}, {&left.Depth, l.Depth, 0},
		} {
			if x.limit > 0 {
				*x.left = min(*x.left, max(x.limit-x.used, 0))
			}
		}
		if l.Cost > 0 {
			left.Cost = min(left.Cost, max(l.Cost-used.Cost, 0))
		}
		if l.Time > 0 {
			left.Time = min(left.Time, max(time.Until(b.ends), 0))
		}
	}
	return left
}

// Model returns a model that has a name for [Limits].Prices, and whose calls are charged even if they are not made by a
// module. Models opened by package models need it only for another name.
func Model(model llms.Model, name string) llms.Model {
	return lm.Wrap(model, func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		return lm.Generate(lm.WithName(ctx, name), model, messages, options...)
	})
}

// tree is shared by a budget without an outer one and all budgets and calls within it.
type tree struct {
	sync.Mutex
	changed chan struct{} // closed when a call ends
}

// invalid returns the error for a budget that cannot be used.
func invalid(err error) error { return &lm.Error{Kind: lm.KindInvalid, Err: err} }

// reached returns the error for a limit that is reached.
func (b *Budget) reached(limit string) *Error {
	return &Error{Limit: limit, budget: b, spent: b.node.spent}
}
