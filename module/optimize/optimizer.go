package optimize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/tools"
)

// Optimizer searches for a better module. The optimizers of this package implement it. With the same replies and
// scores, an optimizer takes the same steps: task.rand is its only source of randomness, and it calls the methods of
// the task from one goroutine.
type Optimizer interface {
	// optimize returns when the search is over. If the task returns errBudget, optimize returns it; this is not a
	// failure.
	optimize(ctx context.Context, t *task) error

	// estimate returns the maximum number of calls, as if each run of the module made one call. If it has calls of the
	// reflection model, Options.Reflection is required. Run evaluates the original module, multiplies the estimate by
	// the number of calls in a run, limits it to the budget, and shows the result.
	estimate(t *task) Spent
}

// Data holds the examples of an optimization. Demos come from Train, and scores on Val decide between candidates. Keep
// other examples for a final test: the best candidate is chosen by its score on Val, so this score is too high.
type Data[In, Out any] struct {
	Train, Val []evaluate.Example[In, Out]
}

// Options configures [Run]. The zero value, and nil, are the defaults.
type Options struct {
	// Budget limits what the search may spend.
	Budget Budget

	// Effort limits the search if Budget limits neither StudentCalls nor Tokens, Cost or Time. Zero means Medium.
	Effort Effort

	// Seed makes a search repeatable: with the same replies, the same seed gives the same result.
	Seed uint64

	// Workers is the maximum number of examples that are run at the same time. Zero means 8.
	Workers int

	// RunTimeout limits each run of the module, as in evaluate.Options. Zero means 10 minutes.
	RunTimeout time.Duration

	// Dir is a directory in which Run keeps the replies of all models. To continue a search that was killed, call Run
	// again with the same arguments. Run creates the directory if it does not exist, and returns an error if another
	// search is using it. If Dir is empty, nothing is kept. Models without a name (see models.Capabilities) are not
	// distinguished from each other.
	//
	// Tools that only read are called again when a search continues. If their results have changed, so have the
	// requests that follow, and the replies to these requests are paid for again. The replies of models that a metric
	// or an [Embed] calls directly, and not through a module, are not kept.
	//
	// If a candidate is better than the original module, Run saves the best one so far in this directory as best.json,
	// for module.Load. A search with other arguments and the same Dir replaces this file.
	Dir string

	// Frozen are the paths of predictors that the search must not change; see module.Predictors.
	Frozen []string

	// Reflection is the model that writes instructions, for the optimizers that need one.
	Reflection llms.Model

	// Teacher is the model for the runs on Train that become demos. Nil means the module's own models.
	Teacher llms.Model

	// Policy replaces or refuses calls of tools with effects, as in evaluate.Options. It is required if the module has
	// such tools. A search never has effects, since it runs each example many times, and again when it continues: if a
	// call would reach such a tool, even through evaluate.Act, the tool is not called, and the run ends with an error.
	// To act in a test environment, use evaluate.Fakes with functions that call the test environment.
	Policy tools.Policy

	// Progress, if set, receives a line for the estimate, for each candidate that is accepted or rejected, and for each
	// warning.
	Progress io.Writer

	// OnEvent, if set, receives the events of the search, one at a time. It must return quickly, since runs wait for
	// it.
	OnEvent func(Event)

	// Prices are the prices of models by name, for Budget.Cost and Spent.Cost.
	Prices map[string]budget.Price
}

// Effort is the number of runs of the module that a search may make, including the first evaluation, divided by the
// number of examples in Val. The effort is measured in calls: a run has as many as in the first evaluation.
type Effort int

// Efforts for a first try, for daily use, and for a module that will be used a lot.
const (
	Light  Effort = 10
	Medium Effort = 30
	Heavy  Effort = 100
)

// Event is a step of a search.
type Event struct {
	Text      string     // describes the event in a line; empty if the event is the end of a run
	Candidate *Candidate // the candidate that the event is about, or nil
	Rejected  bool       // whether the candidate was rejected before it was evaluated on all of Val
	Done      int        // the number of runs of the evaluation in progress that have ended
	Total     int        // the number of runs of the evaluation in progress
	Spent     Spent
}

// Answer is an answer to an example of Val.
type Answer struct {
	Example   string // the ID of the example
	Candidate int    // the ID of the candidate that gave the answer
	Score     float64
	Output    json.RawMessage
}

// Result is the result of an optimization.
type Result[M any] struct {
	// Module is a clone of the original module with the instructions and demos of the best accepted candidate. If no
	// candidate is better than the original module, it is a clone without changes.
	Module M

	// Best is the candidate in Module.
	Best *Candidate

	// Candidates are the accepted candidates, in the order in which they were accepted. The first is the original
	// module.
	Candidates []Candidate

	// Answers are the best answers to the examples of Val that any accepted candidate gave. An example is left out if
	// no candidate answered it.
	Answers []Answer

	// Spent is what the search used, including replies that Options.Dir kept from an earlier process.
	Spent Spent

	// Warnings are reasons to doubt the result.
	Warnings []string

	top func(n int) []M
}

// Top returns clones of the module with the n best accepted candidates, the best first. If there are fewer candidates,
// it returns fewer. An [Ensemble] of the clones often answers better than each of them.
func (r *Result[M]) Top(n int) []M { return r.top(n) }

// String returns the score of the best candidate, what the search used, and its warnings, for people to read.
func (r *Result[M]) String() string {
	if r == nil || r.Best == nil {
		return "no result"
	}
	text := fmt.Sprintf("score %.3f, by %s, the best of %s; %s", r.Best.Score, r.Best.By,
		display.Plural(len(r.Candidates), "candidate"), r.Spent)
	for _, w := range r.Warnings {
		text += "\nwarning: " + w
	}
	return display.Text(text)
}

// Run searches with an optimizer for a better version of m, and returns it as a clone of the same type. It does not
// change m. Nil options are the defaults.
//
// Failed runs have the score 0. Negative scores also count as 0, with a warning; if your metric returns negative
// scores, shift them so that none is below 0.
//
// If the budget is spent before the search is over, the result is the best that was found so far, with a warning. If
// ctx ends or a model's provider refuses access, Run returns an error as well as the best so far. There is no result,
// only an error, if the arguments are invalid, if the module fails on every example, or if the search ends before the
// original module has been evaluated. With Options.Dir, the search continues when Run is called again.
func Run[M module.Module[In, Out], In, Out any](
	ctx context.Context, m M, by Optimizer, d Data[In, Out], metric evaluate.Metric[In, Out], o *Options,
) (*Result[M], error) {
	if isNil(by) {
		return nil, errors.New("optimize: the optimizer is nil; pass one, such as optimize.BootstrapFewShot{}")
	}
	if o == nil {
		o = &Options{}
	}
	p, err := newTypedTask(ctx, m, d, metric, o)
	if err != nil {
		return nil, err
	}
	t, err := newTask(p, by, o)
	if err != nil {
		return nil, err
	}
	err = t.search(ctx, by)
	if len(t.accepted) == 0 || t.start.Failed == len(t.val) {
		return nil, err
	}
	r := &Result[M]{
		Module: p.build(t.best(), t.source(t.best())), Best: t.best(), Spent: t.ledger.spent(), Warnings: t.warnings,
		Answers: t.bestAnswers(),
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
	return r, err
}
