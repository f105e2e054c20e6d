package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lines"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Options configures [Evaluate]. The zero value, and nil, are the defaults.
type Options struct {
	// Workers is the maximum number of concurrent runs. Zero means 8.
	Workers int

	// Samples is the number of times that each example is run. If it is greater than 1, each run of an example has a
	// different Rollout, and a Temperature of 1 unless the module sets one, as in [module.Samples]. Zero means 1.
	Samples int

	// NoAnswer is the score of a run without an answer. The Parts of its score count as 0. See [Evaluate].
	NoAnswer float64

	// MaxErrors is the number of errors that the evaluation tolerates; one more ends it early. Zero means 10 or 2% of
	// the runs, whichever is more. A negative number means no limit: Evaluate then returns no error even if more than
	// 2% of the runs have an error.
	MaxErrors int

	// RunTimeout limits each run of the module. Zero means 10 minutes, and a negative number means no limit. A run that
	// takes longer has no answer. A module that ignores its context keeps running in the background after the timeout.
	RunTimeout time.Duration

	// Policy replaces, refuses or permits calls of tools. It is [Fakes], [Recorded], [Refuse], [Act] or a policy of
	// your own, and is required if the module has tools with effects. If a call would reach such a tool without passing
	// through [Act], the tool is not called, and the run ends with an error.
	Policy tools.Policy

	// MetricTimeout limits each call of the metric. Zero means 5 minutes, and a negative number means no limit. A
	// metric that ignores its context keeps running in the background after the timeout.
	MetricTimeout time.Duration

	// Results is the path of a JSON Lines file to which Evaluate appends each result. If the file already has results,
	// Evaluate makes only the missing runs and repeats those with an error; a run without an answer is a result and is
	// not repeated. If a run has an answer but its metric failed, or was interrupted because ctx ended, Evaluate calls
	// only the metric. You can therefore restart an evaluation that was killed, and it continues where it stopped.
	//
	// Evaluate refuses the file if another evaluation is using it, or if its results come from a different module: one
	// with another Go type, state (see [module.Save]), Script or model name. It does not compare the metric, the
	// policy, the notes of the examples or Predictor.Rollout, so use another file if you change one of them.
	Results string

	// Progress receives the number of completed runs and their mean score. On a terminal, one line is updated in place;
	// otherwise, a new line is written every few seconds.
	Progress io.Writer

	// DropTrajectories leaves the trajectories out of the results to save memory.
	DropTrajectories bool
}

// Evaluate runs a module on examples and scores its answers. Nil options are the defaults.
//
// A run has no answer if its error wraps [module.ErrNoAnswer], [module.ErrMaxIters] or budget.ErrSpent, if a model
// refuses to answer, if a prompt is too long for its model, or if the run exceeds Options.RunTimeout. Such a run counts
// with the score Options.NoAnswer, which is 0 by default: otherwise, a module could raise its score by giving no answer
// to hard questions. Result.NoAnswer marks it, and Report.NoAnswers counts these runs.
//
// All other errors, such as those of the network, a provider, a sandbox, a tool or policy that ends the run, or the
// metric, do not show how good the module is. Their results have no score, and Report.Errors counts them. In both
// cases, Result.Err says what happened. A module of your own that has no answer returns an error that wraps
// module.ErrNoAnswer.
//
// Evaluate returns an error together with a complete Report if more than 2% of the runs have an error, unless
// Options.MaxErrors is negative. It returns an error together with a Report of the results so far if there are more
// than Options.MaxErrors errors, if ctx ends, if a budget of ctx is spent (see package budget), or if a result cannot be
// written to Options.Results. If there are too many errors, the returned error wraps the error of a run.
//
// Evaluate returns an error without a Report, before the first run, if the examples are not a valid set, if the answers
// would depend on the order of the examples, if the module has tools with effects and Options.Policy is nil, or if the
// file Options.Results cannot be used.
func Evaluate[In, Out any](
	ctx context.Context, m module.Module[In, Out], examples []Example[In, Out], metric Metric[In, Out], o *Options,
) (*Report, error) {
	e, err := prepare(ctx, m, examples, metric, o)
	if err != nil {
		return nil, err
	}
	if ctx, err = WithPolicy(ctx, m, e.Policy); err != nil {
		return nil, err
	}
	if err := e.resume(m); err != nil {
		return nil, err
	}
	e.runAll(ctx)
	if e.log != nil {
		e.err = cmp.Or(e.err, e.log.Close())
	}
	var complete []Result
	for i, r := range e.results {
		if e.ended[i] {
			complete = append(complete, r)
		}
	}
	report, n := newReport(complete), len(complete)
	if e.err == nil && e.MaxErrors >= 0 && report.Errors*50 > n {
		e.err = fmt.Errorf("evaluate: %d of %d runs have no score because of errors, more than 2%%; the first error, "+
			"of example %q: %w", report.Errors, n, e.results[e.firstAt].ID, e.first)
	}
	return report, e.err
}

// evaluation is the state of one call of Evaluate.
type evaluation[In, Out any] struct {
	Options
	examples []Example[In, Out]
	modules  []module.Module[In, Out] // one for each sample
	metric   Metric[In, Out]
	results  []Result // ordered by example, then by sample

	mu       sync.Mutex
	ended    []bool // whether the result with the same index is complete
	progress *progress
	log      *lines.File // nil without Options.Results
	first    error       // the first error in the order of the results, or nil
	firstAt  int         // the result with that error
	err      error       // why the evaluation stopped early
	stop     context.CancelFunc
}

func prepare[In, Out any](
	ctx context.Context, m module.Module[In, Out], examples []Example[In, Out], metric Metric[In, Out], o *Options,
) (*evaluation[In, Out], error) {
	switch v := reflect.ValueOf(m); {
	case ctx == nil:
		return nil, errors.New("evaluate: the context is nil")
	case m == nil, v.Kind() == reflect.Pointer && v.IsNil():
		return nil, errors.New("evaluate: the module is nil")
	case metric == nil:
		return nil, errors.New("evaluate: the metric is nil")
	}
	set, err := numbered(examples)
	if err != nil {
		return nil, err
	}
	e := &evaluation[In, Out]{examples: set, metric: metric}
	if o != nil {
		e.Options = *o
	}
	e.setDefaults()
	if err := checkScore(module.Score{Value: e.NoAnswer}); err != nil {
		return nil, fmt.Errorf("evaluate: Options.NoAnswer: %w", err)
	}
	if e.modules = []module.Module[In, Out]{m}; e.Samples > 1 {
		if e.modules, err = rollouts(m, e.Samples); err != nil {
			return nil, err
		}
	}
	if err := e.initResults(); err != nil {
		return nil, err
	}
	return e, nil
}

// rollouts returns n clones of a module that can give different answers to the same input.
func rollouts[In, Out any](m module.Module[In, Out], n int) ([]module.Module[In, Out], error) {
	copies, found := make([]module.Module[In, Out], n), false
	for i := range copies {
		copies[i] = module.Clone(m)
		for _, p := range module.Predictors(copies[i]) {
			found, p.Rollout = true, p.Rollout*n+i
			if p.Temperature == nil {
				p.Temperature = new(1.0)
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("evaluate: %T has no Predictor in its exported fields, so all samples of an "+
			"example would be the same; set Options.Samples to 1", m)
	}
	return copies, nil
}

func (e *evaluation[In, Out]) setDefaults() {
	if e.Workers <= 0 {
		e.Workers = 8
	}
	e.Samples = max(e.Samples, 1)
	e.MaxErrors = cmp.Or(e.MaxErrors, max(10, len(e.examples)*e.Samples/50))
	e.RunTimeout, e.MetricTimeout = cmp.Or(e.RunTimeout, 10*time.Minute), cmp.Or(e.MetricTimeout, 5*time.Minute)
}

// initResults creates an incomplete result for each run.
func (e *evaluation[In, Out]) initResults() error {
	e.results = make([]Result, 0, len(e.examples)*e.Samples)
	e.ended = make([]bool, cap(e.results))
	for _, example := range e.examples {
		inputs, err := encode(example.In)
		if err != nil {
			return fmt.Errorf("evaluate: cannot encode the inputs of example %q: %w", example.ID, err)
		}
		want, err := encode(example.Want)
		if err != nil {
			return fmt.Errorf("evaluate: cannot encode the expected answer of example %q: %w", example.ID, err)
		}
		for sample := range e.Samples {
			e.results = append(e.results, Result{
				ID: example.ID, Sample: sample, Group: example.Group, Weight: example.Weight,
				Inputs: inputs, Want: want,
			})
		}
	}
	return nil
}

// runAll makes the runs whose results are missing.
func (e *evaluation[In, Out]) runAll(ctx context.Context) {
	e.progress = newProgress(e.Progress, len(e.results))
	for i := range e.results {
		if e.ended[i] {
			e.progress.add(&e.results[i])
		}
	}
	e.progress.resumed = e.progress.ended
	defer e.progress.show(true)
	caller := ctx
	ctx, e.stop = context.WithCancel(ctx)
	defer e.stop()
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(e.Workers, len(e.results)) {
		running.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(e.results) {
					return
				}
				if !e.ended[i] {
					e.run(ctx, i)
				}
			}
		})
	}
	running.Wait()
	if e.err == nil && caller.Err() != nil {
		e.err = fmt.Errorf("evaluate: stopped: %w", context.Cause(caller))
	}
}

// run makes the i-th run and adds its result, unless the context ends first. If the results file already has an answer,
// run only calls the metric. If the context ends while the metric runs, run saves the answer for the next evaluation.
func (e *evaluation[In, Out]) run(ctx context.Context, i int) {
	example, r := e.examples[i/e.Samples], e.results[i]
	ctx = withRun(ctx, r.Inputs, r.Sample)
	answer := e.ask
	if r.Got != nil {
		answer = e.recorded
	}
	pred, err := answer(ctx, example.In, &r)
	if e.stopped(ctx, err) {
		return // the cancellation may have caused the outcome
	}
	if err == nil {
		unscored := r
		r.Score, r.MetricUsage, err = e.metric.apply(ctx, example, pred, e.MetricTimeout)
		if e.stopped(ctx, err) {
			e.keep(i, unscored)
			return
		}
	}
	r.Err, r.NoAnswer = "", false
	if err != nil {
		r.Score, r.Err = module.Score{}, err.Error()
		if r.NoAnswer = r.Got == nil && isNoAnswer(err); r.NoAnswer {
			r.Score.Value = e.NoAnswer
		}
	}
	e.add(i, r, err)
}

// stopped reports whether the evaluation is over, because its context has ended or a run that ended with err has shown
// that the budget of the context is spent.
func (e *evaluation[In, Out]) stopped(ctx context.Context, err error) bool {
	if spent, ok := errors.AsType[*budget.Error](err); ok && spent.Binds(ctx) && ctx.Err() == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.end(fmt.Errorf("evaluate: stopped: %w", err))
	}
	return ctx.Err() != nil
}

// ask runs the module and records what it did in r.
func (e *evaluation[In, Out]) ask(ctx context.Context, in In, r *Result) (*module.Prediction[Out], error) {
	began := time.Now()
	run, ended := within(ctx, e.RunTimeout, e.modules[r.Sample], in)
	r.Duration = time.Since(began)
	t := run.Trajectory()
	r.Trajectory, r.Usage = &t, t.UsageByModel()
	switch {
	case errors.Is(ended, errTimeout):
		return nil, fmt.Errorf("%w after %v; to allow more time, raise Options.RunTimeout", errTimeout, e.RunTimeout)
	case run.Prediction == nil:
		return nil, cmp.Or(run.Err, ended)
	}
	var err error
	r.Got, err = encode(run.Prediction.Output)
	return run.Prediction, err
}

// recorded returns the answer that was read from the results file.
func (e *evaluation[In, Out]) recorded(_ context.Context, _ In, r *Result) (*module.Prediction[Out], error) {
	pred := &module.Prediction[Out]{}
	if r.Trajectory != nil {
		pred.Trajectory = *r.Trajectory
	}
	if err := schema.Unmarshal(r.Got, &pred.Output); err != nil {
		return nil, fmt.Errorf("cannot decode the answer in the results file: %w", err)
	}
	return pred, nil
}

// keep writes an answer that has no score yet to the results file, unless the file already has the answer.
func (e *evaluation[In, Out]) keep(i int, r Result) {
	if e.results[i].Got != nil {
		return
	}
	r.Err = "the metric was interrupted"
	if err := e.write(r); err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.end(err)
	}
}

// add records the result of the i-th run, and ends the evaluation if there are too many errors. The argument err is
// that of Result.Err, or nil.
func (e *evaluation[In, Out]) add(i int, r Result, err error) {
	written := r
	if e.DropTrajectories {
		r.Trajectory = nil
		if r.Err == "" || r.Got == nil { // a repeated call of the metric may need the trajectory
			written.Trajectory = nil
		}
	}
	failure := e.write(written)
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.failed() && (e.first == nil || i < e.firstAt) {
		e.first, e.firstAt = err, i
	}
	e.results[i], e.ended[i] = r, true
	e.progress.add(&r)
	e.progress.show(false)
	if failure != nil {
		e.end(failure)
	}
	if n := e.progress.errors; r.failed() && e.MaxErrors >= 0 && n > e.MaxErrors {
		e.end(fmt.Errorf("evaluate: stopped after %s (Options.MaxErrors is %d); the last error, of example %q: %w",
			display.Plural(n, "error"), e.MaxErrors, r.ID, err))
	}
}

// end ends the evaluation early. Evaluate returns the error of the first call of end.
func (e *evaluation[In, Out]) end(err error) {
	if e.err == nil {
		e.err = err
	}
	e.stop()
}
