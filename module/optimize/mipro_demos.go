package optimize

import (
	"context"
	"slices"

	"github.com/writ-go/writ/module"
)

// collectDemos makes the sets of demos of each predictor. The first set is the current one, and the second has examples
// of Train as they are. The other sets have calls from runs on Train that the metric accepts; the sets differ in their
// demos and in the number of demos.
func (s *miproSearch) collectDemos(ctx context.Context) error {
	if s.DemoSets < 0 {
		return nil
	}
	runs, err := s.goodRuns(ctx)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		s.task.warnNoTraces(s.Threshold)
	}
	for _, p := range s.predictors {
		sets := [][]module.Demo{p.Demos}
		for n := 1; n < s.DemoSets; n++ {
			from := runs
			if n == 1 {
				from = nil
			}
			size := s.Demos
			if n > 2 {
				size = 1 + s.task.rand.IntN(s.Demos)
			}
			if set := s.demoSet(p, from, size); len(set) > 0 {
				sets = append(sets, set)
			}
		}
		s.demos = append(s.demos, sets)
	}
	return nil
}

// demoRuns is the number of examples of Train in a batch of runs.
const demoRuns = 20

// goodRuns returns runs on Train whose score reaches the Threshold, as many as the sets of demos can use.
func (s *miproSearch) goodRuns(ctx context.Context) ([]outcome, error) {
	var good []outcome
	for indices := range slices.Chunk(s.task.balanced(), demoRuns) {
		if len(good) >= s.DemoSets*s.Demos || s.lastCall(len(indices)) {
			break
		}
		outcomes, err := s.task.teach(ctx, s.task.start, indices, 0)
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			if o.reaches(s.Threshold) {
				good = append(good, o)
			}
		}
	}
	return good, nil
}

// demoSet returns demos from different examples. If there are too few runs, it adds examples as they are.
func (s *miproSearch) demoSet(p predictor, runs []outcome, size int) []module.Demo {
	var set []module.Demo
	var used []int
	for _, i := range s.task.rand.Perm(len(runs)) {
		traced := s.task.traced(p, runs[i])
		if len(traced) > 0 && len(set) < size {
			set = append(set, traced[s.task.rand.IntN(len(traced))])
			used = append(used, runs[i].item)
		}
	}
	for _, i := range s.task.balanced() {
		if len(set) < size && !s.task.repeats(i, used) {
			set = append(set, s.task.labeled(p, []int{i})...)
		}
	}
	return set
}
