package optimize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/module"
)

// Ensemble asks several modules the same question at the same time and takes a vote. Modules with different demos and
// instructions make different mistakes, so an ensemble of the best candidates of a search ([Result.Top]) is often
// better than each of them, but it costs as much as all of them. An Ensemble is a module itself, so it can be evaluated
// and saved.
//
// Voting over several answers was published by Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in
// Language Models" (ICLR 2023), and voting over several prompts by Khattab et al., "DSPy: Compiling Declarative
// Language Model Calls into Self-Improving Pipelines" (ICLR 2024).
type Ensemble[In, Out any] struct {
	Modules []module.Module[In, Out]

	// Vote chooses among the results of the modules that gave an answer. Nil means [module.Majority] of whole outputs.
	// To compare only a part of each output, call module.Majority with a key.
	Vote func(answers []module.Result[Out]) (*module.Prediction[Out], error)
}

// NewEnsemble returns an ensemble of modules that takes a majority vote.
func NewEnsemble[M module.Module[In, Out], In, Out any](modules []M) *Ensemble[In, Out] {
	e := &Ensemble[In, Out]{}
	for _, m := range modules {
		e.Modules = append(e.Modules, m)
	}
	return e
}

// Run asks all modules at the same time. It returns an error if no module gives an answer.
func (e *Ensemble[In, Out]) Run(ctx context.Context, in In) (*module.Prediction[Out], error) {
	if e == nil || len(e.Modules) == 0 {
		return nil, errors.New("optimize: the Ensemble has no modules")
	}
	results, err := module.Parallel(ctx, member[In, Out]{e.Modules, in}, inOrder(len(e.Modules)),
		&module.ParallelOptions{Workers: len(e.Modules), Collect: true})
	failed := func(r module.Result[Out]) bool { return r.Err != nil }
	answers := slices.DeleteFunc(slices.Clone(results), failed)
	if len(answers) == 0 {
		return nil, fmt.Errorf("optimize: no module of the Ensemble gave an answer: %w", err)
	}
	vote := e.Vote
	if vote == nil {
		vote = func(answers []module.Result[Out]) (*module.Prediction[Out], error) {
			return module.Majority(answers, nil)
		}
	}
	chosen, err := vote(answers)
	switch {
	case err != nil:
		return nil, err
	case chosen == nil:
		return nil, errors.New("optimize: Ensemble.Vote returned nil")
	}
	var all module.Trajectory
	for _, r := range results {
		all.Runs = append(all.Runs, r.Trajectory())
	}
	return &module.Prediction[Out]{Output: chosen.Output, Trajectory: all}, nil
}

// member is a module that runs one of several modules. Its input is the index of that module.
type member[In, Out any] struct {
	modules []module.Module[In, Out]
	in      In
}

// Run implements [module.Module].
func (m member[In, Out]) Run(ctx context.Context, i int) (*module.Prediction[Out], error) {
	if m.modules[i] == nil {
		return nil, fmt.Errorf("optimize: module %d of the Ensemble is nil", i)
	}
	return m.modules[i].Run(ctx, m.in)
}
