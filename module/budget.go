package module

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
)

// purse is the budget of a step's context, with what had been spent of it before the step.
type purse struct {
	*budget.Budget
	before  budget.Spent
	durable bool
}

func purseOf(ctx context.Context) purse {
	b := budget.Of(ctx)
	return purse{b, b.Spent(), durable.Recorded(ctx)}
}

// ahead returns how many steps the model may count on: those of the run, or fewer if the budget of the context leaves
// fewer that are like the last one. It returns 0 only if the run has used up its steps. In a durable run, which must
// take the same path when it is repeated, the time does not count.
func (r *run) ahead() int {
	left, now, before := r.purse.Left(), r.purse.Spent(), r.purse.before
	steps := float64(min(r.left(), left.Steps, left.Calls))
	like := func(left, last float64) {
		if last > 0 {
			steps = min(steps, left/last)
		}
	}
	input, output := float64(now.InputTokens-before.InputTokens), float64(now.OutputTokens-before.OutputTokens)
	like(float64(left.InputTokens), input)
	like(float64(left.OutputTokens), output)
	like(float64(left.Tokens), input+output)
	like(left.Cost, now.Cost-before.Cost)
	if !r.purse.durable {
		like(float64(left.Time), float64(time.Since(r.last().Began)))
	}
	return min(r.left(), max(int(steps), 1))
}

// toolsLeft tells the model how many tool calls the budget of the context leaves, if they are few.
func (r *run) toolsLeft() string { return prompt.ToolCallsLeft(r.purse.Left().ToolCalls) }

// stopped returns err, together with the error of the budget whose time is over, if that is why ctx is done and err
// does not say so.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, budget.ErrSpent) && !errors.Is(err, budget.ErrSpent) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// overBudget reports whether a budget ended the work.
func overBudget(err error) bool {
	failure, ok := errors.AsType[*lm.Error](err)
	return errors.Is(err, budget.ErrSpent) || ok && failure.Kind == lm.KindOverBudget
}
