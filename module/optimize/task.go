package optimize

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// ErrBudget reports that the budget is spent. The methods of a [Task] return it, and an [Optimizer] may return it.
var ErrBudget = errors.New("the budget of the optimization is spent")

// Task is the work of an [Optimizer], without the types of the module. It alone runs the module and asks models, and
// so it counts, limits, records and resumes. Its methods must be called from one goroutine.
type Task struct{}

// Split is a set of examples.
type Split int

// The sets of examples.
const (
	TrainSplit Split = iota
	ValSplit
)

// Item is an example as JSON.
type Item struct {
	ID           string
	Inputs, Want json.RawMessage // objects
	Note         string
	Weight       float64
}

// Predictor is a predictor of the module.
type Predictor struct {
	Path   string
	Spec   *signature.Spec
	Frozen bool // it must stay as it is
	Tools  []*tools.Binding
	Demos  []module.Demo // of the module as it was given
}

// Outcome is how a candidate did on an example.
type Outcome struct {
	Item  int          // the index in its set
	Score module.Score // zero if there is an error
	Err   error        // of the module or of the metric

	// Got, Calls and Trajectory are what the module did. They are empty for examples of Val, whose only purpose is
	// to decide between candidates.
	Got        json.RawMessage
	Calls      []PredictorCall
	Trajectory *module.Trajectory
}

// PredictorCall is a question to a model and its reply.
type PredictorCall struct {
	Path      string // of the predictor
	Inputs    signature.Values
	Outputs   signature.Values // as a demo has them; nil if the reply could not be used
	Reasoning string
	Reply     string // the whole text
	Problem   string // what the model was told about the reply: why it cannot be used, or how its program ended
}

// Train returns the examples of Train.
func (t *Task) Train() []Item { panic("in progress") }

// Val returns the examples of Val.
func (t *Task) Val() []Item { panic("in progress") }

// Predictors returns the predictors of the module.
func (t *Task) Predictors() []Predictor { panic("in progress") }

// Start returns the module as it was given. It has been accepted already.
func (t *Task) Start() *Candidate { panic("in progress") }

// New returns a copy of a candidate whose Predictors may be edited until it is evaluated.
func (t *Task) New(parent *Candidate, by string) *Candidate { panic("in progress") }

// Evaluate runs a candidate on examples of a set: those with the given indices, or all if indices is nil. The
// outcomes are in the order of the indices. An example that was evaluated with the same content is not run again.
func (t *Task) Evaluate(ctx context.Context, c *Candidate, split Split, indices []int) ([]Outcome, error) {
	panic("in progress")
}

// Accept evaluates a candidate on all of Val and adds it to the result.
func (t *Task) Accept(ctx context.Context, c *Candidate) error { panic("in progress") }

// Ask asks the reflection model.
func (t *Task) Ask(ctx context.Context, prompt string) (string, error) { panic("in progress") }

// Teach has the teacher answer examples of Train in the place of the candidate's models. In rounds from 1 on, the
// temperature is 1, unless the module sets one, and the replies differ from those of other rounds.
func (t *Task) Teach(ctx context.Context, c *Candidate, indices []int, round int) ([]Outcome, error) {
	panic("in progress")
}

// Check returns why instructions cannot be used: a text of Options.Keep is missing, or they are too long.
func (t *Task) Check(instructions string) error { panic("in progress") }

// Rules returns what instructions must fulfil, for the model that writes them; or "".
func (t *Task) Rules() string { panic("in progress") }

// Rand returns the source of chance of the search.
func (t *Task) Rand() *rand.Rand { panic("in progress") }

// Left returns what is left of the budget. A field without a limit has its greatest value.
func (t *Task) Left() Budget { panic("in progress") }

// Spent returns what the search used so far.
func (t *Task) Spent() Spent { panic("in progress") }

// Warn adds a warning to the result.
func (t *Task) Warn(format string, args ...any) { panic("in progress") }
