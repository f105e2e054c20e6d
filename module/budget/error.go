package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrSpent is the error with which every limit of a budget ends work. An *[Error] wraps it.
var ErrSpent = errors.New("the budget is spent")

// Error says which limit of a [Budget] was reached.
type Error struct {
	// Limit is what was reached, such as "100 model calls".
	Limit string

	budget *Budget
}

// Spent returns what was spent of the budget.
func (e *Error) Spent() Spent { return e.budget.Spent() }

// Error says which limit was reached, and what was spent.
func (e *Error) Error() string {
	return fmt.Sprintf("the budget allows no more than %s; spent: %s", e.Limit, e.Spent())
}

// Unwrap returns ErrSpent.
func (e *Error) Unwrap() error { return ErrSpent }

// Binds reports whether the budget is one of ctx, so that more work with ctx would fail as well. Otherwise it began
// within the work that failed, like that of an RLM.
func (e *Error) Binds(ctx context.Context) bool { return slices.Contains(Of(ctx).all(), e.budget) }
