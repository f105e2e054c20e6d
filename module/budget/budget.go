package budget

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/lm"
)

// Limits are the limits of a [Budget]. Zero means no limit. If a limit or a price is negative or not a number, every
// model call and tool call fails.
type Limits struct {
	Time         time.Duration // since With; the context gets a deadline
	Steps        int           // requests of modules to their models
	Calls        int           // model calls
	ToolCalls    int           // calls that reach a tool, including llm and rlm in programs
	InputTokens  int           // tokens in all requests
	OutputTokens int           // tokens in all replies, including reasoning
	Tokens       int           // InputTokens and OutputTokens together
	Cost         float64       // in the currency of Prices
	Concurrency  int           // model calls at the same time; further calls wait
	Depth        int           // modules within each other that run as tools of modules

	// Prices maps model names to prices. A call's model has the name in llms.WithModel, or else the name in [Model], or
	// else the name in its capabilities, or else "". If Cost is limited, calls of a model without a price fail. Prices
	// of outer budgets take precedence.
	//
	// A model of your own that calls other models is charged the greater of what it reports and of what these calls
	// use. If it does not cost anything itself, give it the price Price{}.
	Prices map[string]Price
}

// check returns an error for a value that would silently disable a limit.
func (l Limits) check() error {
	err := checkNumbers("Limits.", reflect.ValueOf(l))
	for _, model := range slices.Sorted(maps.Keys(l.Prices)) {
		err = cmp.Or(err, checkNumbers(fmt.Sprintf("Limits.Prices[%q].", model), reflect.ValueOf(l.Prices[model])))
	}
	return err
}

func checkNumbers(prefix string, of reflect.Value) error {
	for i := range of.NumField() {
		n := 0.0
		if f := of.Field(i); f.CanInt() {
			n = float64(f.Int())
		} else if f.CanFloat() {
			n = f.Float()
		}
		if !(n >= 0) || math.IsInf(n, 1) {
			return fmt.Errorf("budget: %s is %g; it must be zero, for no limit, or a positive number",
				prefix+of.Type().Field(i).Name, n)
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
	b := &Budget{limits: l, bad: l.check(), depth: len(effect.Agents(ctx)),
		run: durable.Of(ctx), path: lm.CountsAll(ctx)}
	b.node = node{outer: nodeOf(ctx), tree: &tree{changed: make(chan struct{})}, budget: b}
	if outer := b.node.outer; outer != nil {
		b.node.tree = outer.tree
		b.limits.Prices = map[string]Price{}
		maps.Copy(b.limits.Prices, l.Prices)
		maps.Copy(b.limits.Prices, outer.nearest().limits.Prices)
	}
	ctx = withPolicy(lm.WithMeter(lm.CountAll(ctx, false), &b.node))
	if b.bad != nil || l.Time == 0 {
		return ctx
	}
	b.ends = time.Now().Add(l.Time)
	ctx, cancel := context.WithDeadlineCause(ctx, b.ends, &Error{l.Time.String(), b})
	context.AfterFunc(ctx, cancel) // the context ends at the deadline, or with ctx
	return ctx
}

// Of returns the innermost budget of a context, or nil. A nil Budget has no limits, and nothing is spent of it.
func Of(ctx context.Context) *Budget {
	if n := nodeOf(ctx); n != nil {
		return n.nearest()
	}
	return nil
}

// Err returns an *[Error] if the budget, or one around it, allows no more model calls.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	b.node.tree.Lock()
	defer b.node.tree.Unlock()
	return b.node.fit(lm.Charge{Replies: 1, Step: &lm.Step{}}, Price{Output: 1e-3}, 1).err
}

// Charge charges the budgets of ctx for calls of a model that were made elsewhere, for example by another process. That
// may exceed the limits.
func Charge(ctx context.Context, model string, used event.Usage) {
	n := nodeOf(ctx)
	if n == nil {
		return
	}
	n.tree.Lock()
	defer n.tree.Unlock()
	price, priced := n.nearest().limits.Prices[model]
	s := Spent{Calls: used.Calls, Cached: used.Hits, InputTokens: used.InputTokens, OutputTokens: used.OutputTokens,
		ReasoningTokens: used.ThinkingTokens, Cost: price.of(lm.Usage{
			Input: used.InputTokens, CachedInput: used.CachedTokens, Output: used.OutputTokens})}
	if !priced {
		s.Unpriced = used.Calls
	}
	n.charge(s, Spent{}, 0)
}

// over reports whether the time of the budget is over. The context may not know, as with context.WithoutCancel.
func (b *Budget) over() bool { return !b.ends.IsZero() && !time.Now().Before(b.ends) }

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
	s := b.node.spent
	s.Cost = math.Round(s.Cost*1e12) / 1e12 // without the errors of sums, which depend on their order
	return s
}

// Left returns what the budget and those around it leave, besides what calls in progress may use. Without a limit, it
// is the highest number of its type. Depth and Prices are not set.
func (b *Budget) Left() Limits {
	const most = math.MaxInt
	left := Limits{math.MaxInt64, most, most, most, most, most, most, math.MaxFloat64, most, 0, nil}
	if b == nil {
		return left
	}
	b.node.tree.Lock()
	defer b.node.tree.Unlock()
	for _, b := range b.all() {
		l, used := b.limits, b.node.spent.plus(b.node.held)
		lower(&left.Time, l.Time, l.Time-time.Until(b.ends))
		lower(&left.Steps, l.Steps, used.Steps)
		lower(&left.Calls, l.Calls, b.calls())
		lower(&left.ToolCalls, l.ToolCalls, used.ToolCalls)
		lower(&left.InputTokens, l.InputTokens, used.InputTokens)
		lower(&left.OutputTokens, l.OutputTokens, used.OutputTokens)
		lower(&left.Tokens, l.Tokens, used.tokens())
		lower(&left.Cost, l.Cost, used.Cost)
		lower(&left.Concurrency, l.Concurrency, b.node.underway)
	}
	return left
}

// lower lowers what is left to what a limit leaves, if there is a limit.
func lower[T int | float64 | time.Duration](left *T, limit, used T) {
	if limit > 0 {
		*left = min(*left, max(limit-used, 0))
	}
}

// Model returns a model with a name for [Limits].Prices, whose calls are charged even if no module makes them. Models
// of package models need it only to have another name.
func Model(model llms.Model, name string) llms.Model {
	return lm.Wrap(model, func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		return lm.Generate(lm.WithName(ctx, name), model, messages, options...)
	})
}
