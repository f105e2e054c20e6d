// Package budget limits the model calls that programs make. The budget travels in the
// context, so nested modules and tools cannot bypass it.
package budget

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
)

// ErrSpent means that a model call was not made because the budget is used up.
var ErrSpent = errors.New("the budget for model calls is used up")

// Limits are the limits of a [Budget].
type Limits struct {
	Calls       int // model calls
	Tokens      int // prompts and replies together; 0 means no limit
	Concurrency int // model calls at the same time
}

// Budget counts the model calls of one run. It is part of the budget in the context with which it was made, if any, and
// calls are charged to both. A nil Budget has no limits.
type Budget struct {
	outer  *Budget
	limits Limits
	slots  chan struct{} // one element for each call in progress

	mu       sync.Mutex
	calls    int
	used     int // tokens used by the calls that have ended
	reserved int // tokens charged for the calls in progress
}

// New returns a budget within the budget of ctx, if ctx has one.
func New(ctx context.Context, l Limits) *Budget {
	return &Budget{outer: Of(ctx), limits: l, slots: make(chan struct{}, l.Concurrency)}
}

type budgetKey struct{}

// Of returns the budget of a context, or nil.
func Of(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// In returns a context whose model calls are charged to b.
func (b *Budget) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// Charge is the charge for a model call in progress.
type Charge struct {
	budget *Budget
	tokens int  // reserved for the prompt
	inside bool // the call is made by a model that is itself being called
}

type chargeKey struct{}

// Context returns the context for the model call. If the model runs a module that calls other models, these calls do
// not wait for a slot, which could deadlock.
func (c Charge) Context(ctx context.Context) context.Context {
	if c.budget == nil {
		return ctx
	}
	return context.WithValue(ctx, chargeKey{}, true)
}

// Begin waits until another call may be made, and charges the estimated tokens in its prompt. The error wraps
// [ErrSpent] or is the context's error. The caller calls End after the model call.
func (b *Budget) Begin(ctx context.Context, tokens int) (Charge, error) {
	if b == nil {
		return Charge{}, nil
	}
	inside, _ := ctx.Value(chargeKey{}).(bool)
	c := Charge{b, tokens, inside}
	if !inside {
		if err := b.enter(ctx); err != nil {
			return Charge{}, err
		}
	}
	err := ctx.Err() // select may take a slot although the context is done
	if err == nil {
		err = b.reserve(tokens)
	}
	if err != nil {
		c.leave()
		return Charge{}, err
	}
	return c, nil
}

// enter takes a slot from the budget and from each enclosing budget.
func (b *Budget) enter(ctx context.Context) error {
	if b == nil {
		return nil
	}
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := b.outer.enter(ctx)
	if err != nil {
		<-b.slots
	}
	return err
}

func (c Charge) leave() {
	for b := c.budget; b != nil && !c.inside; b = b.outer {
		<-b.slots
	}
}

// reserve counts a call in b and in the budgets around it.
func (b *Budget) reserve(tokens int) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.tokensLeft()
	switch {
	case b.calls == b.limits.Calls:
		return fmt.Errorf("%w: %d of %d model calls have been made", ErrSpent, b.calls, b.limits.Calls)
	case tokens > left:
		return fmt.Errorf("%w: this call needs about %d tokens, and %d of %d are left",
			ErrSpent, tokens, left, b.limits.Tokens)
	}
	if err := b.outer.reserve(tokens); err != nil {
		return err
	}
	b.calls++
	b.reserved += tokens
	return nil
}

// End replaces the reserved tokens with the tokens that the call used.
func (c Charge) End(used int) {
	c.leave()
	for b := c.budget; b != nil; b = b.outer {
		b.mu.Lock()
		b.reserved -= c.tokens
		b.used = sum(b.used, used)
		b.mu.Unlock()
	}
}

// tokensLeft returns the number of remaining tokens. The caller holds the lock.
func (b *Budget) tokensLeft() int {
	if b.limits.Tokens == 0 {
		return math.MaxInt
	}
	return max(b.limits.Tokens-sum(b.used, b.reserved), 0)
}

// sum adds two counts, which providers can make arbitrarily large, without overflow.
func sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Left returns the calls and the tokens that are left; tokens is math.MaxInt if there is no limit.
func (b *Budget) Left() (calls, tokens int) {
	if b == nil {
		return math.MaxInt, math.MaxInt
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	calls, tokens = b.outer.Left()
	return min(calls, b.limits.Calls-b.calls), min(tokens, b.tokensLeft())
}
