package optimize

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/writ-go/writ/module"
)

// What the tests of package optimize_test use.
type Task = task

const (
	TrainSplit = trainSplit
	ValSplit   = valSplit
)

// OptimizerFunc is an optimizer that is a function.
type OptimizerFunc func(ctx context.Context, t *task) error

func (f OptimizerFunc) optimize(ctx context.Context, t *task) error { return f(ctx, t) }

func (OptimizerFunc) estimate(*task) Spent { return Spent{} }

// Optimize runs an optimizer within another one.
func Optimize(ctx context.Context, by Optimizer, t *task) error { return by.optimize(ctx, t) }

func (o BootstrapFewShot) Bootstrap(ctx context.Context, t *task, order []int, by string) (*Candidate, int, error) {
	return o.bootstrap(ctx, t, order, by)
}

func (c *Candidate) States() map[string]*state { return c.states }

func (t *task) Start() *Candidate { return t.start }

func (t *task) Rand() *rand.Rand { return t.rand }

func (t *task) New(parent *Candidate, by string) *Candidate { return newCandidate(parent, by) }

func (t *task) Labeled(path string, indices []int) []module.Demo {
	i := slices.IndexFunc(t.predictors, func(p predictor) bool { return p.Path == path })
	return t.labeled(t.predictors[i], indices)
}

func (t *task) Ask(ctx context.Context, prompt string) (string, error) { return t.ask(ctx, prompt) }

func (t *task) Accept(ctx context.Context, c *Candidate) error { return t.accept(ctx, c) }

func (t *task) Evaluate(ctx context.Context, c *Candidate, set split, indices []int) ([]outcome, error) {
	return t.evaluate(ctx, c, set, indices)
}
