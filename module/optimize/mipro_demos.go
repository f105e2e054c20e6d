package optimize

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/writ-go/writ/module"
)

// collectDemos makes the sets of demos. The calls of the runs on Train that the metric accepts are the demos to choose
// from; sets differ in their demos and in their number.
func (s *miproSearch) collectDemos(ctx context.Context) error {
	if s.DemoSets < 0 {
		return nil
	}
	good, err := s.goodRuns(ctx)
	if err != nil {
		return err
	}
	for _, p := range s.predictors {
		var found []module.Demo
		for _, o := range good {
			found = append(found, demosOf(o, p.Path)...)
		}
		sets := [][]module.Demo{p.Demos}
		for n := 1; n < s.DemoSets && len(found) > 0; n++ {
			sets = append(sets, demoSet(s.task.Rand(), found, s.Demos, n))
		}
		s.demos = append(s.demos, sets)
	}
	if len(good) == 0 {
		s.task.Warn("MIPROv2: no run on Train has a score of %g or more, so there are no demos; set Options.Teacher to a "+
			"better model, or lower Threshold", s.Threshold)
	}
	return nil
}

// demoRuns is the number of examples of Train that are run at once.
const demoRuns = 20

// goodRuns returns runs on Train with a sufficient score, as many as the sets of demos can use.
func (s *miproSearch) goodRuns(ctx context.Context) ([]Outcome, error) {
	var good []Outcome
	order := s.task.Rand().Perm(len(s.task.Train()))
	for indices := range slices.Chunk(order, demoRuns) {
		if len(good) >= s.DemoSets*s.Demos || s.lastCall() {
			break
		}
		outcomes, err := s.task.Teach(ctx, s.task.Start(), indices, 0)
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			if o.Err == nil && o.Score.Value >= s.Threshold {
				good = append(good, o)
			}
		}
	}
	return good, nil
}

// demoSet returns some of the demos. The first sets have the maximum, later ones may have fewer.
func demoSet(r *rand.Rand, found []module.Demo, most, n int) []module.Demo {
	size := most
	if n > 2 {
		size = 1 + r.IntN(most)
	}
	var set []module.Demo
	for _, i := range r.Perm(len(found))[:min(size, len(found))] {
		set = append(set, found[i])
	}
	return set
}

// demosOf returns the calls of a predictor as demos.
func demosOf(o Outcome, path string) []module.Demo {
	var demos []module.Demo
	for _, call := range o.Calls {
		if call.Path == path && call.Outputs != nil && call.Problem == "" {
			demos = append(demos, module.Demo{Inputs: call.Inputs, Outputs: call.Outputs})
		}
	}
	return demos
}
