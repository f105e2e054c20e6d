package optimize

import (
	"context"
	"math/rand/v2"

	"github.com/writ-go/writ/module"
)

// collectDemos makes the sets of demos. The calls of the runs on Train that the metric accepts are the demos to choose
// from; sets differ in their demos and in their number.
func (s *miproSearch) collectDemos(ctx context.Context) error {
	if s.DemoSets < 0 {
		return nil
	}
	runs, err := s.task.Teach(ctx, s.task.Start(), nil, 0)
	if err != nil {
		return err
	}
	good := s.accepted(runs)
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

// accepted returns the runs with a sufficient score.
func (s *miproSearch) accepted(runs []Outcome) []Outcome {
	var good []Outcome
	for _, o := range runs {
		if o.Err == nil && o.Score.Value >= s.Threshold {
			good = append(good, o)
		}
	}
	return good
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
