package optimize

import (
	"context"
	"errors"
	"io"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
)

// Optimizer searches for a better module. The optimizers of this package implement it. With the same replies and
// scores, an optimizer does the same again: task.rand is its only source of randomness, and it calls the methods of the
// task from one goroutine.
type Optimizer interface {
	// optimize returns when the search is over. errBudget ends it as well, and is not a failure.
	optimize(ctx context.Context, t *task) error

	// estimate returns the maximum number of calls, where each run of the module counts as one. Run evaluates the module
	// as it was given, multiplies by the calls of a run, applies the budget, and shows the result.
	estimate(t *task) Spent
}

// Data are the examples of an optimization. Demos come from Train, and scores on Val decide between candidates. Keep
// other examples for a test: the scores on Val are too high for the candidate that was chosen by them.
type Data[In, Out any] struct {
	Train, Val []evaluate.Example[In, Out]
}

// Options configures [Run]. The zero value, and nil, are the defaults.
type Options struct {
	// Budget limits what the search may spend. Zero fields are no limit.
	Budget Budget

	// Seed makes a search repeatable: with the same replies, the same seed gives the same result.
	Seed uint64

	// Workers is the maximum number of examples that are run at the same time. Zero means 8.
	Workers int

	// Dir is a directory for the replies of all models, from which a search that was killed continues: run it again
	// with the same arguments. It is created if it does not exist. It is an error if another search is using it.
	// Requests to models that state no name (see models.Capabilities) are not distinguished by their model. If Dir is
	// empty, nothing is kept.
	//
	// Tools that only read are called again when a search continues. If their results differ from the first time, so
	// do the requests that follow, and their replies are paid for. The replies of models that a metric or an [Embed]
	// calls directly, and not through a module, are not kept.
	//
	// The best candidate so far is saved there as best.json, for module.Load, if it is better than the module as it was
	// given. Searches with other arguments that use the same Dir replace it.
	Dir string

	// Frozen are the paths of predictors that stay as they are; see module.Predictors.
	Frozen []string

	// Reflection is the model that writes instructions, for the optimizers that need one.
	Reflection llms.Model

	// Teacher answers the training examples whose runs become demos. Nil means the module's own models.
	Teacher llms.Model

	// Policy replaces or refuses the tools with effects, as in evaluate.Options. It is required if the module has such
	// tools. A search never has effects, since it runs each example many times and again when it continues: a call
	// that reaches such a tool ends its run with an error, even with evaluate.Act. To act in a test environment, use
	// evaluate.Fakes with handlers that call it.
	Policy tools.Policy

	// Progress, if set, receives a line for the estimate, for each accepted candidate and for each warning.
	Progress io.Writer

	// Prices are the prices of models by name, for Budget.Cost and Spent.Cost.
	Prices map[string]models.Price
}

// Result is the result of an optimization.
type Result[M any] struct {
	// Module is a clone of the module with the best accepted candidate. If none is better than the module as it was
	// given, it is that.
	Module M

	// Best is the candidate in Module.
	Best *Candidate

	// Candidates are the accepted candidates, in their order. The first is the module as it was given.
	Candidates []Candidate

	// Spent is what the search used, including the replies that an earlier process received.
	Spent Spent

	// Warnings say what is doubtful about the result.
	Warnings []string

	top func(n int) []M
}

// Top returns clones of the module with the n best accepted candidates, the best first; fewer if there are fewer. An
// [Ensemble] of them often answers better than each.
func (r *Result[M]) Top(n int) []M { return r.top(n) }

// Run searches with an optimizer for a better version of m, and returns it as a clone of the same type; m is not
// changed. Nil options are the defaults.
//
// In a search, failed runs score 0, and so do runs with a negative score, with a warning. Shift the scores of such a
// metric so that none is below 0.
//
// If the budget is spent before the search is over, the result is the best that was found so far, with a warning. An
// error means that there is no result: the arguments are invalid, the module fails on every example, a model's
// provider refuses access, or ctx ended. With Options.Dir, the search continues when Run is called again.
func Run[M module.Module[In, Out], In, Out any](
	ctx context.Context, m M, by Optimizer, d Data[In, Out], metric evaluate.Metric[In, Out], o *Options,
) (*Result[M], error) {
	if isNil(by) {
		return nil, errors.New("optimize: the optimizer is nil; pass one, such as optimize.BootstrapFewShot{}")
	}
	if o == nil {
		o = &Options{}
	}
	p, err := newProgram(ctx, m, d, metric, o)
	if err != nil {
		return nil, err
	}
	t, err := newTask(p, by, o)
	if err != nil {
		return nil, err
	}
	if err := t.search(ctx, by); err != nil {
		return nil, err
	}
	r := &Result[M]{
		Module: p.build(t.best(), t.source(t.best())), Best: t.best(), Spent: t.ledger.spent(), Warnings: t.warnings,
		top: func(n int) (list []M) {
			for _, c := range t.ranked()[:max(min(n, len(t.accepted)), 0)] {
				list = append(list, p.build(c, t.source(c)))
			}
			return list
		},
	}
	for _, c := range t.accepted {
		r.Candidates = append(r.Candidates, *c)
	}
	return r, nil
}
