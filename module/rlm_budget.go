package module

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/writ-go/writ/module/internal/lm"
)

// ErrBudget is why a model was not asked: what an [RLM] may spend on behalf of its
// programs is spent. Modules that run within such a program, as tools do, return
// it in their [IncompleteError].
var ErrBudget = errors.New("the budget of the programs is used up")

// budget bounds what models are asked on behalf of programs. It is in the context
// of all that they call, so that nothing nested gets round it. A nil budget is no
// bound.
type budget struct {
	outer  *budget       // of the run within which this one is; nil if it is within none
	calls  int           // at most
	tokens int           // at most; 0 is no bound
	slots  chan struct{} // one for each question under way

	mu       sync.Mutex
	made     int // calls
	used     int // tokens
	reserved int // tokens of the questions under way
}

// newBudget is the budget of a run, within that of the run around it, if there is
// one.
func newBudget(ctx context.Context, o RLMOptions) *budget {
	return &budget{outer: budgetOf(ctx), calls: o.MaxCalls, tokens: o.MaxTokens, slots: make(chan struct{}, o.Concurrency)}
}

type budgetKey struct{}

func budgetOf(ctx context.Context) *budget {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	return b
}

func (b *budget) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// charge is a question under way.
type charge struct {
	budget *budget
	held   *budget // whose slot, and of those outside of it, the question around this one has
	tokens int
}

type heldKey struct{}

// heldIn is the budget whose slot is taken by the question that ctx is part of, if
// it is part of one: a model that runs a module asks within a question.
func heldIn(ctx context.Context) *budget {
	b, _ := ctx.Value(heldKey{}).(*budget)
	return b
}

// within is the context of the question: what is asked in there waits for none of
// the slots that the question has itself.
func (c charge) within(ctx context.Context) context.Context {
	if c.budget == nil {
		return ctx
	}
	return context.WithValue(ctx, heldKey{}, c.budget)
}

// begin takes a question out of the budget and waits until it may be asked. The
// error is [ErrBudget] or the context's.
func (b *budget) begin(ctx context.Context, conversation []message) (charge, error) {
	if b == nil {
		return charge{}, nil
	}
	bytes := 0
	for _, m := range conversation {
		bytes += len(m.text)
	}
	c := charge{b, heldIn(ctx), tokensOf(bytes)}
	if err := b.enter(ctx, c.held); err != nil {
		return charge{}, err
	}
	if ctx.Err() != nil { // there was a slot all the same; what is not asked takes nothing
		c.leave()
		return charge{}, over(ctx)
	}
	if err := b.take(c.tokens); err != nil {
		c.leave()
		return charge{}, err
	}
	return c, nil
}

// enter waits for a slot here and in the budgets outside, as far as they are not
// held.
func (b *budget) enter(ctx context.Context, held *budget) error {
	if b == nil || b == held {
		return nil
	}
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return over(ctx)
	}
	err := b.outer.enter(ctx, held)
	if err != nil {
		<-b.slots
	}
	return err
}

func (c charge) leave() {
	for b := c.budget; b != nil && b != c.held; b = b.outer {
		<-b.slots
	}
}

// tokensOf is about how many tokens a text has.
func tokensOf(bytes int) int { return (bytes + 3) / 4 }

func (b *budget) take(tokens int) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.made == b.calls:
		return fmt.Errorf("%w: %d of %d calls of models have been made", ErrBudget, b.made, b.calls)
	case b.tokens > 0 && plus(plus(b.used, b.reserved), tokens) > b.tokens:
		return fmt.Errorf("%w: this takes about %d tokens, and %d of %d are left",
			ErrBudget, tokens, b.free(), b.tokens)
	}
	if err := b.outer.take(tokens); err != nil {
		return err
	}
	b.made++
	b.reserved += tokens
	return nil
}

// end puts down what the question has cost.
func (c charge) end(r ModelResponse) {
	c.leave()
	used := c.cost(r)
	for b := c.budget; b != nil; b = b.outer {
		b.put(c.tokens, used)
	}
}

// cost is how many tokens a question has taken: as many as the provider says, or
// else about as many as were reserved for it.
func (c charge) cost(r ModelResponse) int {
	failure, failed := errors.AsType[*lm.Error](r.Err)
	switch used := plus(r.Usage.InputTokens, r.Usage.OutputTokens); {
	case used > 0:
		return used
	case r.Usage.Calls == 0, failed && !failure.MaybeCharged:
		return 0
	}
	return c.tokens + tokensOf(len(r.Text))
}

func (b *budget) put(reserved, used int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= reserved
	b.used = plus(b.used, used)
}

// free is how many tokens are left, when the questions under way have cost what
// was reserved for them.
func (b *budget) free() int { return max(b.tokens-plus(b.used, b.reserved), 0) }

// left is what programs may still spend, for the model, when that is less than half.
func (b *budget) left() string {
	calls, tokens := b.callsLeft(), b.tokensLeft()
	switch {
	case calls > b.calls/2 && (tokens == math.MaxInt || tokens > b.tokens/2):
		return ""
	case calls == 0, tokens == 0:
		return "Programs may not ask models any more."
	case tokens == math.MaxInt:
		return fmt.Sprintf("Programs may ask models %s.", plural(calls, "more time"))
	}
	return fmt.Sprintf("Programs may ask models %s, with %s.", plural(calls, "more time"), plural(tokens, "token"))
}

func (b *budget) callsLeft() int {
	if b == nil {
		return math.MaxInt
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return min(b.calls-b.made, b.outer.callsLeft())
}

func (b *budget) tokensLeft() int {
	if b == nil {
		return math.MaxInt
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	left := math.MaxInt
	if b.tokens > 0 {
		left = b.free()
	}
	return min(left, b.outer.tokensLeft())
}
