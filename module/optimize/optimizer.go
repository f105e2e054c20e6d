package optimize

import (
	"context"
	"io"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
)

// Optimizer searches for a better module. It proposes candidates, has a [Task] evaluate them, and accepts the good
// ones. Given the same replies and scores, it must do the same again: its only sources of chance are [Task.Rand] and
// the models, and it calls the methods of the Task from one goroutine.
type Optimizer interface {
	// Optimize returns when the search is over. [ErrBudget] ends it as well, and is not a failure.
	Optimize(ctx context.Context, t *Task) error
}

// Data are the examples of an optimization. Demos come from Train, and scores on Val decide between candidates. Keep
// other examples for a test: the scores on Val are too high for the candidate that was chosen by them.
type Data[In, Out any] struct {
	Train, Val []evaluate.Example[In, Out]
}

// Options configures Run. The zero value, and nil, are the defaults.
type Options struct {
	// Budget limits what the search may spend. Zero fields are no limit.
	Budget Budget

	// Seed makes a search repeatable: with the same replies, the same seed gives the same result.
	Seed uint64

	// Workers is the maximum number of examples that are run at the same time. If it is not positive, it is 8.
	Workers int

	// Dir is a directory for the replies of all models, from which a search that was killed continues: run it again
	// with the same arguments. It is created if it does not exist. The module with the best candidate so far is saved
	// there as best.json. If Dir is empty, nothing is kept.
	Dir string

	// Frozen are the paths of predictors that stay as they are; see module.Predictors.
	Frozen []string

	// Reflection is the model that writes instructions, for the optimizers that need one.
	Reflection llms.Model

	// Teacher answers the training examples whose runs become demos. Nil means the module's own models.
	Teacher llms.Model

	// Policy replaces or refuses the tools with effects, as in evaluate.Options.
	Policy tools.Policy

	// Keep are texts that the instructions of every predictor must contain.
	Keep []string

	// MaxInstructions limits the characters of the instructions of a predictor. Zero means no limit.
	MaxInstructions int

	// Progress, if set, is told the estimate, each accepted candidate, and warnings, a line each.
	Progress io.Writer

	// Prices are the prices of models by name, for Budget.Cost and Spent.Cost.
	Prices map[string]models.Price
}

// Budget limits an optimization. Zero fields are no limit.
type Budget struct {
	StudentCalls    int           // calls of the module's own models
	TeacherCalls    int           // calls of Options.Teacher
	ReflectionCalls int           // calls of Options.Reflection
	Tokens          int           // of all models together
	Cost            float64       // in the currency of Options.Prices
	Time            time.Duration // of all processes that worked on the search, without the time between them
}

// Spent is what an optimization used, or is estimated to use.
type Spent struct {
	StudentCalls    int           `json:"student_calls"`
	TeacherCalls    int           `json:"teacher_calls,omitempty"`
	ReflectionCalls int           `json:"reflection_calls,omitempty"`
	MetricCalls     int           `json:"metric_calls,omitempty"` // of models that a metric asks
	InputTokens     int           `json:"input_tokens,omitempty"`
	OutputTokens    int           `json:"output_tokens,omitempty"`
	Cost            float64       `json:"cost,omitempty"`
	Unpriced        int           `json:"unpriced,omitempty"` // calls of models without a price; not in Cost
	Time            time.Duration `json:"time_ns,omitempty"`
}

// Estimator is implemented by optimizers that know what a search will take. Run shows the estimate before it starts.
type Estimator interface {
	Estimate(t *Task) Spent
}

// Result is the result of an optimization.
type Result[M any] struct {
	// Module is a clone of the module with the best accepted candidate. If nothing was better, that is the module
	// as it was given.
	Module M

	// Best is the candidate in Module.
	Best *Candidate

	// Candidates are the accepted candidates, in their order. The first is the module as it was given.
	Candidates []Candidate

	// Spent is what the search used, including what an earlier process paid for.
	Spent Spent

	// Warnings say what is doubtful about the result.
	Warnings []string

	build func(*Candidate) M
}

// Run searches with an optimizer for a better version of m, and returns it as a clone of the same type; m is not
// changed.
func Run[M module.Module[In, Out], In, Out any](
	ctx context.Context, m M, by Optimizer, d Data[In, Out], metric evaluate.Metric[In, Out], o *Options,
) (*Result[M], error) {
	panic("in progress")
}
