package optimize

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// task is what an [Optimizer] works with: the module and its examples, without their types. All runs of the module and
// all calls of models go through it, so that it can count, limit, record and resume them. Methods other than evaluate,
// ask and emit must be called from one goroutine.
type task struct {
	options    Options
	by         string // the name of the optimizer
	runner     runner
	train, val []item
	predictors []predictor
	specs      map[string]*signature.Spec
	ledger     *ledger
	rand       *rand.Rand
	start      *Candidate
	accepted   []*Candidate
	outcomes   map[string]outcome         // by the scope of the run
	sources    map[string]map[string]bool // by demoKey: the keys of the examples of Train that the demo was made from
	warnings   []string
	negative   bool // whether there was a warning about a negative score
	workers    int
	runs       sync.Mutex  // guards outcomes and negative
	events     sync.Mutex  // guards warnings and ended, and serializes events
	ended      bool        // whether the search is over
	replaying  atomic.Bool // whether the log had replies to the latest batch of runs
}

// split is the name of a set of examples.
type split string

// The sets of examples.
const (
	trainSplit split = "Train"
	valSplit   split = "Val" // its examples must not become part of a prompt
)

// item is an example as JSON.
type item struct {
	ID           string
	Inputs, Want json.RawMessage // objects
	Note         string
	Weight       float64

	key   string  // equal for examples with equal inputs
	share float64 // the weight divided by the mean weight of the set
}

// predictor describes a predictor of the module.
type predictor struct {
	Path   string
	Spec   *signature.Spec
	Frozen bool // whether the search must not change it
	Tools  []*tools.Binding
	Demos  []module.Demo // its demos in the original module

	given *module.Predictor
}

// outcome is the result of running a candidate on an example.
type outcome struct {
	item  int          // the index of the example in its set
	share float64      // of the example
	Score module.Score // zero if there is an error; a negative value counts as 0
	Err   error        // of the module or of the metric

	// Got is the answer. Calls and Trajectory are the record of the run, and are empty for examples of Val, whose only
	// purpose is to decide between candidates.
	//
	// Calls are ordered by predictor, inputs and step. They are not in the order of time, which is random if the module
	// runs a predictor several times at once.
	Got        json.RawMessage
	Calls      []predictorCall
	Trajectory *module.Trajectory
}

// answer returns the answer of the run, or the last one that was submitted if none was accepted.
func (o outcome) answer() json.RawMessage {
	if o.Got != nil || o.Trajectory == nil {
		return o.Got
	}
	t := o.Trajectory
	for len(t.Steps) == 0 && len(t.Runs) > 0 {
		t = &t.Runs[len(t.Runs)-1]
	}
	return t.Answer()
}

// evidenceIn returns the facts of a run, and of the runs within it, that contradict their answers.
func evidenceIn(t *module.Trajectory) []sandbox.Finding {
	if t == nil {
		return nil
	}
	facts := slices.Clone(t.Evidence)
	for i := range t.Runs {
		facts = append(facts, evidenceIn(&t.Runs[i])...)
	}
	return facts
}

// reaches reports whether the run has an answer with at least the given score.
func (o outcome) reaches(score float64) bool { return o.Err == nil && o.Score.Value >= score }

func newTask(r runner, by Optimizer, o *Options) (*task, error) {
	t := &task{
		options: *o, runner: r, by: nameOf(by), specs: map[string]*signature.Spec{}, outcomes: map[string]outcome{},
		sources: map[string]map[string]bool{}, workers: cmp.Or(max(o.Workers, 0), 8),
	}
	var err error
	if t.train, t.val, err = r.items(); err != nil {
		return nil, err
	}
	if t.predictors, err = predictorsOf(r.value(), o.Frozen); err != nil {
		return nil, err
	}
	t.setKeys()
	if err := t.check(by); err != nil {
		return nil, err
	}
	t.rand = rand.New(rand.NewPCG(o.Seed, 0x6f7074696d697a65))
	t.start = &Candidate{By: "original", states: map[string]*state{}}
	for _, p := range t.predictors {
		t.start.states[p.Path], t.specs[p.Path] = stateOf(p.given), p.Spec
	}
	log, err := t.openLog()
	if err != nil {
		return nil, err
	}
	t.ledger = newLedger(o.Budget, o.Prices, log)
	return t, nil
}

// nameOf returns the name of an optimizer's type.
func nameOf(by Optimizer) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", by), "*")
	return name[strings.LastIndex(name, ".")+1:]
}

func predictorsOf(m any, frozen []string) (list []predictor, err error) {
	found := map[string]bool{}
	bindings := map[string][]*tools.Binding{}
	for path, b := range module.Tools(m) {
		bindings[path] = append(bindings[path], b)
	}
	for path, p := range module.Predictors(m) {
		if p.Spec == nil {
			return nil, fmt.Errorf("optimize: the predictor %s has no signature", path)
		}
		found[path] = true
		list = append(list, predictor{
			Path: path, Spec: p.Spec, Frozen: slices.Contains(frozen, path), Tools: bindings[path],
			Demos: slices.Clone(p.Demos), given: p,
		})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("optimize: no Predictors found in %T; export the fields that hold its modules", m)
	}
	for _, path := range frozen {
		if !found[path] {
			return nil, fmt.Errorf("optimize: Options.Frozen has %q, but the predictors of the module are %s",
				path, strings.Join(slices.Sorted(maps.Keys(found)), ", "))
		}
	}
	if !slices.ContainsFunc(list, func(p predictor) bool { return !p.Frozen }) {
		return nil, errors.New("optimize: all predictors are in Options.Frozen, so nothing can be optimized")
	}
	return list, nil
}

// check returns an error if the budget is invalid or too small for one evaluation of the module, or if the optimizer
// needs Options.Reflection and it is nil.
func (t *task) check(by Optimizer) error {
	b, n := t.options.Budget, len(t.val)
	switch {
	case b.Cost > 0 && len(t.options.Prices) == 0:
		return errors.New("optimize: Budget.Cost needs the prices of the models in Options.Prices")
	case min(b.StudentCalls, b.TeacherCalls, b.ReflectionCalls, b.Tokens) < 0 || b.Time < 0 || !(b.Cost >= 0):
		return errors.New("optimize: a limit of Options.Budget is negative; use zero for no limit")
	case b.StudentCalls > 0 && b.StudentCalls < n:
		return fmt.Errorf("optimize: Budget.StudentCalls is %d, but one evaluation on the %d examples of Val takes at "+
			"least %d; raise it or use fewer examples", b.StudentCalls, n, n)
	case t.options.Reflection == nil && by.estimate(t).ReflectionCalls > 0:
		return fmt.Errorf("optimize: %s needs a model that writes instructions; set Options.Reflection", t.by)
	}
	return nil
}

// openLog opens the log of replies. It returns nil without Options.Dir.
func (t *task) openLog() (*models.Store, error) {
	if t.options.Dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(t.options.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("optimize: Options.Dir: %w", err)
	}
	return models.OpenStore(&models.StoreOptions{
		Mode: models.Resume, Path: filepath.Join(t.options.Dir, "replies.jsonl"),
	})
}

// newCandidate returns a copy of a candidate. Its states may be changed until it is evaluated. The argument by becomes
// [Candidate.By].
func newCandidate(parent *Candidate, by string) *Candidate {
	parents := []int{parent.ID}
	if parent.ID < 0 {
		parents = parent.Parents
	}
	return &Candidate{ID: -1, Parents: parents, By: by, states: copyStates(parent.states)}
}

// evaluate runs a candidate on examples of a set: those with the given indices, or all if indices is nil. The
// outcomes are in the order of the indices. An example on which the candidate was run before is not run again.
//
// An example of Train is run without the demos made from it. The error is errBudget, the error of ctx, or an error that
// would end every run, such as a provider that refuses access. The errors of single examples are in the outcomes.
func (t *task) evaluate(ctx context.Context, c *Candidate, split split, indices []int) ([]outcome, error) {
	return t.runBatch(ctx, batch{candidate: c, split: split, indices: indices})
}

// teach has the teacher answer examples of Train in place of the candidate's models. After round 0, the temperature is
// 1 unless the module sets one, and the replies differ from those of other rounds.
func (t *task) teach(ctx context.Context, c *Candidate, indices []int, round int) ([]outcome, error) {
	return t.runBatch(ctx, batch{candidate: c, split: trainSplit, indices: indices, teach: true, round: round})
}

// runBatch runs the examples of a batch that were not run before, and returns the outcomes of all.
func (t *task) runBatch(ctx context.Context, b batch) ([]outcome, error) {
	b.runs = b.candidate.runs()
	if b.items = t.train; b.split == valSplit {
		b.items = t.val
	}
	all := b.indices
	if all == nil {
		all = inOrder(len(b.items))
	}
	b.indices = nil
	for _, i := range all {
		if _, known := t.known(b.scope(i)); !known && !slices.Contains(b.indices, i) {
			b.indices = append(b.indices, i)
		}
	}
	if err := t.runNew(ctx, b); err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(all))
	for i, index := range all {
		outcomes[i], _ = t.known(b.scope(index))
	}
	return outcomes, nil
}

// known returns the outcome of an earlier run.
func (t *task) known(scope string) (o outcome, found bool) {
	t.runs.Lock()
	defer t.runs.Unlock()
	o, found = t.outcomes[scope]
	return o, found
}

func (t *task) runNew(ctx context.Context, b batch) error {
	if len(b.indices) == 0 {
		return nil
	}
	before, answered := t.ledger.spent(), t.ledger.answered()
	outcomes, err := t.runner.run(ctx, t, b)
	t.replaying.Store(t.ledger.answered() > answered)
	t.ledger.priceRuns(before, len(b.indices))
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("optimize: stopped: %w", context.Cause(ctx))
	case err != nil:
		return err
	case t.ledger.over(t.role(b)) || t.ledger.over(judge):
		return errBudget
	}
	for _, o := range outcomes {
		if failure, ok := errors.AsType[*lm.Error](o.Err); ok && failure.Kind == lm.KindAuth {
			return o.Err
		}
		if spent, ok := errors.AsType[*budget.Error](o.Err); ok && spent.Binds(ctx) {
			return fmt.Errorf("optimize: stopped: %w", o.Err)
		}
	}
	t.runs.Lock()
	defer t.runs.Unlock()
	for _, o := range outcomes {
		for _, path := range slices.Sorted(maps.Keys(o.Score.For)) {
			if t.specs[path] == nil {
				return fmt.Errorf("optimize: the metric gave feedback for %q in Score.For, but the predictors of the "+
					"module are %s", path, strings.Join(slices.Sorted(maps.Keys(t.specs)), ", "))
			}
		}
		if b.split == valSplit {
			o.Calls, o.Trajectory = nil, nil
		}
		o.share = b.items[o.item].share
		o.Score.Value = t.notNegative(o.Score.Value, b.split, b.items[o.item].ID)
		t.outcomes[b.scope(o.item)] = o
	}
	return nil
}

// notNegative returns 0 for a negative score, so that a run with an answer is never worse than one that failed.
func (t *task) notNegative(score float64, split split, id string) float64 {
	if score < 0 && !t.negative {
		t.negative = true
		t.warn("the metric returned the score %g for example %q of %v; negative scores count as 0, like failed runs, "+
			"so shift or clamp the scores of the metric", score, id, split)
	}
	return max(score, 0)
}

// without returns the candidate without the demos that were made from an example of Train, or the candidate itself if
// it has no such demos.
func (t *task) without(c *Candidate, item item) *Candidate {
	isOwn := func(d module.Demo) bool { return t.sources[demoKey(d)][item.key] }
	shown, changed := copyStates(c.states), false
	for _, s := range shown {
		n := len(s.Demos)
		s.Demos = slices.DeleteFunc(s.Demos, isOwn)
		changed = changed || len(s.Demos) < n
	}
	if !changed {
		return c
	}
	return &Candidate{states: shown}
}

// withScope returns a context in which ask has a scope: requests with different scopes that are equal have different
// replies in the log.
func withScope(ctx context.Context, scope string) context.Context {
	return context.WithValue(ctx, scopeKey{}, scope)
}

type scopeKey struct{}

// ask sends a prompt to the reflection model, and returns its reply, or "" after a refusal.
func (t *task) ask(ctx context.Context, prompt string) (string, error) {
	question := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, prompt)}
	ctx = tools.WithPolicies(ctx, withoutEffects) // the model may be an agent with tools
	scope, _ := ctx.Value(scopeKey{}).(string)
	response, err := lm.Generate(ctx, t.ledger.model(reflection, scope, t.options.Reflection), question)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("optimize: stopped: %w", context.Cause(ctx))
	case t.ledger.over(reflection):
		return "", errBudget
	case err != nil && response == nil:
		return "", fmt.Errorf("optimize: the reflection model: %w", err)
	case err != nil: // a refusal
		return "", nil
	}
	return strings.TrimSpace(lm.Merge(response).Text), nil
}
