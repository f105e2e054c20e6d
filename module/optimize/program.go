package optimize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// typedTask holds the parts of a task whose types depend on In and Out: the module, its examples and the metric.
type typedTask[M module.Module[In, Out], In, Out any] struct {
	module M
	data   Data[In, Out]
	metric evaluate.Metric[In, Out]
	policy tools.Policy // never permits effects
}

// runner is the interface through which a task uses its typedTask, without the type parameters.
type runner interface {
	value() any
	items() (train, val []item, err error)
	run(ctx context.Context, t *task, b batch) ([]outcome, error)
	save(w io.Writer, c *Candidate, source string) error
}

// batch is a set of examples on which a candidate is run.
type batch struct {
	candidate *Candidate
	runs      string // the name of the candidate's runs
	split     split
	items     []item // all examples of the split
	indices   []int  // the examples to run
	teach     bool   // whether the teacher runs the examples
	round     int    // the round of the teacher, from 0
	workers   int    // how many runs may be in progress; 0 means all workers of the task
}

func newTypedTask[M module.Module[In, Out], In, Out any](
	ctx context.Context, m M, d Data[In, Out], metric evaluate.Metric[In, Out], o *Options,
) (*typedTask[M, In, Out], error) {
	switch {
	case ctx == nil:
		return nil, errors.New("optimize: the context is nil")
	case isNil(m):
		return nil, errors.New("optimize: the module is nil")
	case metric == nil:
		return nil, errors.New("optimize: the metric is nil; pass one, such as evaluate.ExactMatch")
	}
	policy := neverActs(o.Policy)
	_, err := evaluate.WithPolicy(ctx, m, policy)
	return &typedTask[M, In, Out]{m, d, metric, policy}, err
}

// isNil reports whether v is nil, or a pointer or a function that is nil.
func isNil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return r.IsNil()
	}
	return false
}

func (p *typedTask[M, In, Out]) value() any { return p.module }

func (p *typedTask[M, In, Out]) items() (train, val []item, err error) {
	if train, err = itemsOf("Train", p.data.Train); err != nil {
		return nil, nil, err
	}
	val, err = itemsOf("Val", p.data.Val)
	return train, val, err
}

// itemsOf converts a set of examples to JSON. It returns an error if the set is not valid.
func itemsOf[In, Out any](name string, examples []evaluate.Example[In, Out]) ([]item, error) {
	if len(examples) == 0 {
		return nil, fmt.Errorf("optimize: Data.%s is empty; evaluate.Split divides examples into sets", name)
	}
	set, err := evaluate.Split(examples, 0, 1) // all examples, with IDs and weights
	if err != nil {
		return nil, fmt.Errorf("optimize: Data.%s: %w", name, err)
	}
	items, sum := make([]item, len(set[0])), 0.0
	for i, e := range set[0] {
		item := item{ID: e.ID, Note: e.Note, Weight: e.Weight}
		if item.Inputs, err = schema.Marshal(&e.In); err != nil {
			return nil, fmt.Errorf("optimize: cannot encode the inputs of example %q of Data.%s: %w",
				item.ID, name, err)
		}
		if item.Want, err = schema.Marshal(&e.Want); err != nil {
			return nil, fmt.Errorf("optimize: cannot encode the expected answer of example %q of Data.%s: %w",
				item.ID, name, err)
		}
		items[i] = item
		sum += item.Weight
	}
	for i := range items {
		items[i].share = items[i].Weight * float64(len(items)) / sum
	}
	return items, nil
}

// build returns a clone of the module with the states of a candidate. It sets Source in the predictors that the
// candidate changes.
func (p *typedTask[M, In, Out]) build(c *Candidate, source string) M {
	m := module.Clone(p.module)
	for path, predictor := range module.Predictors(m) {
		if s := c.states[path]; s.content() != stateOf(predictor).content() {
			s.apply(predictor)
			if source != "" {
				predictor.Source = source
			}
		}
	}
	return m
}

func (p *typedTask[M, In, Out]) save(w io.Writer, c *Candidate, source string) error {
	return module.Save(w, p.build(c, source))
}

// run runs a candidate on examples, several at the same time. The outcomes are in the order of the indices.
func (p *typedTask[M, In, Out]) run(ctx context.Context, t *task, b batch) ([]outcome, error) {
	data := p.data.Train
	if b.split == valSplit {
		data = p.data.Val
	}
	w := &watched[M, In, Out]{typed: p, task: t, batch: b, runs: make([]watchedRun, len(b.indices))}
	w.shared = w.build(b.candidate)
	var examples []evaluate.Example[place[In, Out], Out]
	for i, index := range b.indices {
		e := data[index]
		e.ID, e.Weight = b.items[index].ID, b.items[index].Weight
		examples = append(examples, evaluate.Example[place[In, Out], Out]{
			ID: e.ID, In: place[In, Out]{e, i}, Want: e.Want, Weight: e.Weight, Group: e.Group,
		})
	}
	report, err := evaluate.Evaluate(ctx, w, examples, w.score, &evaluate.Options{
		Workers: cmp.Or(b.workers, t.workers), RunTimeout: t.options.RunTimeout, MaxErrors: -1, Policy: p.policy,
		DropTrajectories: b.split == valSplit,
	})
	if err != nil {
		return nil, err
	}
	w.mu.Lock() // a run that exceeded the time limit may still be in progress
	defer w.mu.Unlock()
	outcomes := make([]outcome, len(b.indices))
	for i, r := range report.Results {
		run := w.runs[i]
		if run.err == nil && r.Err != "" {
			run.err = errors.New(r.Err)
		}
		outcomes[i] = outcome{
			item: b.indices[i], Score: r.Score, Err: run.err, Got: r.Got, Calls: run.calls, Trajectory: r.Trajectory,
		}
	}
	return outcomes, nil
}

// place is an example with its index in a batch. It is the input of watched.
type place[In, Out any] struct {
	example evaluate.Example[In, Out]
	i       int
}

// MarshalJSON returns the input of the example as JSON. See [json.Marshaler].
func (p place[In, Out]) MarshalJSON() ([]byte, error) { return schema.Marshal(&p.example.In) }

// watched runs a candidate on a batch, and records what its predictors do.
type watched[M module.Module[In, Out], In, Out any] struct {
	typed  *typedTask[M, In, Out]
	task   *task
	batch  batch
	shared M            // the candidate with all demos
	ended  atomic.Int64 // the number of runs that have ended

	mu   sync.Mutex
	runs []watchedRun
}

type watchedRun struct {
	err   error
	calls []predictorCall
}

// build returns a clone of the module with the states of a candidate. If the teacher runs the batch, the clone uses the
// teacher's model.
func (w *watched[M, In, Out]) build(c *Candidate) M {
	m := w.typed.build(c, "")
	if !w.batch.teach {
		return m
	}
	for _, p := range module.Predictors(m) {
		if w.task.options.Teacher != nil {
			p.Model = w.task.options.Teacher
		}
		if w.batch.round > 0 {
			p.Rollout += w.batch.round
			if p.Temperature == nil {
				p.Temperature = new(1.0)
			}
		}
	}
	return m
}

// moduleFor returns the candidate without the demos that were made from an example of Train.
func (w *watched[M, In, Out]) moduleFor(index int) M {
	if w.batch.split == trainSplit {
		if c := w.task.without(w.batch.candidate, w.batch.items[index]); c != w.batch.candidate {
			return w.build(c)
		}
	}
	return w.shared
}

// Run runs the candidate. See [module.Module].
func (w *watched[M, In, Out]) Run(ctx context.Context, in place[In, Out]) (*module.Prediction[Out], error) {
	index := w.batch.indices[in.i]
	ctx = w.task.ledger.inContext(ctx, w.task.role(w.batch), w.batch.scope(index))
	m := module.Module[In, Out](w.moduleFor(index))
	results, _ := module.Parallel(ctx, m, []In{in.example.In}, nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[in.i] = watchedRun{results[0].Err, callsIn(results[0].Trajectory(), w.task.specs)}
	w.task.emit(Event{Candidate: w.batch.candidate, Done: int(w.ended.Add(1)), Total: len(w.runs)})
	return results[0].Prediction, results[0].Err
}

// role returns the role of the models that a batch calls. Without Options.Teacher, the teacher is the student.
func (t *task) role(b batch) role {
	if b.teach && t.options.Teacher != nil {
		return teacher
	}
	return student
}

// score calls the metric with the example of the caller.
func (w *watched[M, In, Out]) score(
	ctx context.Context, e evaluate.Example[place[In, Out], Out], got *module.Prediction[Out],
) (module.Score, error) {
	ctx = w.task.ledger.inContext(ctx, judge, w.batch.scope(w.batch.indices[e.In.i]))
	return w.typed.metric(ctx, e.In.example, got)
}

// scope identifies a run of an example.
func (b batch) scope(index int) string {
	taught := "run"
	if b.teach {
		taught = "round " + strconv.Itoa(b.round)
	}
	return fmt.Sprintf("%s %s %q %s", b.runs, b.split, b.items[index].ID, taught)
}
