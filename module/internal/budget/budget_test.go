package budget

import (
	"context"
	"errors"
	"math"
	"testing"
)

// A call is charged to its budget and to the budgets around it, and is refused if any of them is used up.
func TestBudget(t *testing.T) {
	t.Parallel()
	outer := New(t.Context(), Limits{Calls: 2, Tokens: 100, Concurrency: 1})
	inner := New(outer.In(t.Context()), Limits{Calls: 5, Concurrency: 3})
	ctx := inner.In(t.Context())
	if Of(ctx) != inner || Of(t.Context()) != nil {
		t.Fatal("the context has another budget")
	}
	charge, err := Of(ctx).Begin(ctx, 60)
	if err != nil {
		t.Fatal(err)
	}
	if calls, tokens := inner.Left(); calls != 1 || tokens != 40 {
		t.Errorf("%d calls and %d tokens are left, want 1 and 40", calls, tokens)
	}
	if _, err := inner.Begin(charge.Context(ctx), 41); !errors.Is(err, ErrSpent) {
		t.Errorf("got %v for a call with too many tokens", err)
	}
	within, err := inner.Begin(charge.Context(ctx), 10) // needs no slot
	if err != nil {
		t.Fatal(err)
	}
	within.End(5)
	charge.End(20)
	if calls, tokens := inner.Left(); calls != 0 || tokens != 75 {
		t.Errorf("%d calls and %d tokens are left, want 0 and 75", calls, tokens)
	}
	if _, err := inner.Begin(ctx, 1); !errors.Is(err, ErrSpent) {
		t.Errorf("got %v for a third call", err)
	}
}

// A call that waits for a slot ends with its context, and is not charged.
func TestBudgetWaitEndsWithContext(t *testing.T) {
	t.Parallel()
	b := New(t.Context(), Limits{Calls: 2, Concurrency: 1})
	charge, err := b.Begin(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Begin(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	charge.End(math.MaxInt)
	if calls, tokens := b.Left(); calls != 1 || tokens != math.MaxInt {
		t.Errorf("%d calls and %d tokens are left, want 1 and no limit", calls, tokens)
	}
}

// A nil budget has no limits.
func TestNilBudget(t *testing.T) {
	t.Parallel()
	var b *Budget
	charge, err := b.Begin(t.Context(), math.MaxInt)
	if err != nil || charge.Context(t.Context()) != t.Context() {
		t.Errorf("got %v", err)
	}
	charge.End(1)
}
