package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrSpent is the error with which every limit of a budget ends work. It is wrapped in an *[Error].
var ErrSpent = errors.New("the budget is spent")

// Error reports that a limit of a [Budget] was reached. It wraps [ErrSpent].
type Error struct {
	// Limit is what was reached, such as "100 model calls".
	Limit string

	budget *Budget
	spent  Spent
	live   bool // the budget's time is over
}

// Spent returns what had been spent of the budget.
func (e *Error) Spent() Spent {
	if e.live {
		return e.budget.Spent()
	}
	return e.spent
}

// Error says which limit was reached, and what was spent.
func (e *Error) Error() string {
	return fmt.Sprintf("the budget allows no more than %s; spent: %s", e.Limit, e.Spent())
}

// Unwrap returns ErrSpent.
func (e *Error) Unwrap() error { return ErrSpent }

// Binds reports whether the limit binds ctx, so that further work with ctx would fail as well. Otherwise it is a limit
// of a budget that began within the work that failed, such as that of an RLM.
func (e *Error) Binds(ctx context.Context) bool { return slices.Contains(Of(ctx).all(), e.budget) }
