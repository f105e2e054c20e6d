package module

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
)

// purse is the budget of a step's context, with what had been spent of it before the step.
type purse struct {
	budget  *budget.Budget
	before  budget.Spent
	durable bool
}

func purseOf(ctx context.Context) purse {
	b := budget.Of(ctx)
	return purse{b, b.Spent(), durable.Recorded(ctx)}
}

// more returns about how many steps the budget leaves, if each uses as many tokens, as much money and as much time as
// the last one. In a durable run, which must take the same path when it is repeated, the time does not count.
func (p purse) more(last time.Duration) int {
	left, now := p.budget.Left(), p.budget.Spent()
	steps := min(left.Steps, left.Calls)
	limit := func(left, used float64) {
		if used > 0 && left/used < float64(steps) {
			steps = int(left / used)
		}
	}
	input, output := now.InputTokens-p.before.InputTokens, now.OutputTokens-p.before.OutputTokens
	limit(float64(left.InputTokens), float64(input))
	limit(float64(left.OutputTokens), float64(output))
	limit(float64(left.Tokens), float64(input+output))
	limit(left.Cost, now.Cost-p.before.Cost)
	if left.Time < math.MaxInt64 && !p.durable {
		limit(float64(left.Time), float64(last))
	}
	return steps
}

// ahead returns how many steps the model should count on: those of the run, or fewer if the budget of the context
// leaves fewer. It returns 0 only if the run has used up its steps.
func (r *run) ahead() int {
	return min(r.left(), max(r.purse.more(time.Since(r.last().Began)), 1))
}

// toolsLeft tells the model how many tool calls the budget of the context leaves, if they are few.
func (r *run) toolsLeft() string { return prompt.ToolCallsLeft(r.purse.budget.Left().ToolCalls) }

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
