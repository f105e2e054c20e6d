package optimize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/writ-go/writ/module"
)

// MIPROv2 chooses instructions and demos together. It collects sets of demos from runs of the module on Train that the
// metric accepts, and has the reflection model propose instructions from a summary of the data and of the program. Then
// a Bayesian optimizer searches for the best combination: it evaluates each combination that it proposes on a minibatch
// of Val, and from time to time the most promising combination on all of Val.
//
// Use it if demos help, the module has few predictors, and the budget allows a few hundred runs. If the metric explains
// in words what was wrong, [GEPA] finds better instructions. If you have no model that can write instructions, use
// [BootstrapRandomSearch].
//
// The algorithm is that of Opsahl-Ong et al., "Optimizing Instructions and Demonstrations for Multi-Stage Language
// Model Programs" (EMNLP 2024), with the estimator of Bergstra et al., "Algorithms for Hyper-Parameter Optimization"
// (NeurIPS 2011). Unlike DSPy, it makes all sets of demos from one pass over Train, compares each combination with the
// original module on the same examples, and changes one predictor at a time in its first trials. It needs
// Options.Reflection, unless it chooses only demos.
type MIPROv2 struct {
	// Instructions is the number of instructions to choose from for each predictor, including the current ones. Zero
	// means 5. If it is 1, only demos are chosen, and no reflection model is needed.
	Instructions int

	// DemoSets is the number of sets of demos to choose from for each predictor, including the current set. Zero means
	// 6, and a negative number means that demos are not changed.
	DemoSets int

	// Demos is the maximum number of demos in a set. Zero means 6.
	Demos int

	// Threshold is the lowest score of a run whose calls become demos. Zero means 1.
	Threshold float64

	// Trials is the number of trials. A trial evaluates a combination on a minibatch of Val. Zero means a number that
	// depends on how many combinations there are.
	Trials int
}

const (
	trialExamples = 25 // the number of examples of Val in a trial
	trialsPerFull = 5  // the number of trials between evaluations on all of Val
)

func (m MIPROv2) optimize(ctx context.Context, t *task) error {
	if m.Instructions == 1 && m.DemoSets < 0 {
		return errors.New("optimize: MIPROv2 has nothing to choose: Instructions is 1 and DemoSets is negative")
	}
	s := &miproSearch{MIPROv2: m.withDefaults(t), task: t, predictors: t.unfrozen(), tried: map[string]*combination{}}
	if err := s.collectDemos(ctx); err != nil {
		return err
	}
	if err := s.proposeInstructions(ctx); err != nil {
		return err
	}
	return s.search(ctx)
}

func (m MIPROv2) estimate(t *task) Spent {
	m = m.withDefaults(t)
	runs := m.Trials*min(trialExamples, len(t.val)) + (m.Trials/trialsPerFull+1)*len(t.val)
	s := t.taught(0, runs)
	if m.DemoSets > 0 {
		s = t.taught(len(t.train), runs)
	}
	if m.Instructions > 1 {
		s.ReflectionCalls = 1 + 2*(m.Instructions-1)*len(t.unfrozen())
	}
	return s
}

func (m MIPROv2) withDefaults(t *task) MIPROv2 {
	m.Instructions, m.DemoSets = cmp.Or(max(m.Instructions, 0), 5), cmp.Or(m.DemoSets, 6)
	m.Demos, m.Threshold = cmp.Or(max(m.Demos, 0), 6), cmp.Or(m.Threshold, 1)
	variables, choices := 2*float64(len(t.unfrozen())), float64(max(m.Instructions, m.DemoSets, 2))
	m.Trials = cmp.Or(max(m.Trials, 0), int(max(4*variables*math.Log2(choices), 3*choices)))
	return m
}

// miproSearch is the state of a search.
type miproSearch struct {
	MIPROv2    // with defaults
	task       *task
	predictors []predictor

	// The choices for each predictor. The first choice is the current one.
	instructions [][]string
	demos        [][][]module.Demo

	tried map[string]*combination
}

// A combination is a choice of instructions and demos for each predictor.
type combination struct {
	*Candidate
	choice   []int           // the instructions of each predictor, and then the demos of each predictor
	gains    map[int]float64 // by the index in Val: the score minus the score of the original module
	val      []item
	accepted bool // whether it has been evaluated on all of Val
}

// gain estimates how much better the combination is than the original module. It adds five examples without a
// difference, so that a result on few examples does not count too much.
func (c *combination) gain() float64 {
	sum, shares := 0.0, 5.0
	for _, i := range slices.Sorted(maps.Keys(c.gains)) { // in order, since a sum of floats depends on the order
		sum, shares = sum+c.val[i].share*c.gains[i], shares+c.val[i].share
	}
	return sum / shares
}

// search tries combinations until the trials or the budget are used up.
func (s *miproSearch) search(ctx context.Context) error {
	estimator := &tpe{groups: len(s.predictors)}
	for _, texts := range s.instructions {
		estimator.sizes = append(estimator.sizes, len(texts))
	}
	for _, sets := range s.demos {
		estimator.sizes = append(estimator.sizes, len(sets))
	}
	s.combine(make([]int, len(estimator.sizes))).accepted = true
	estimator.add(make([]int, len(estimator.sizes)), 0)
	for trial := range s.Trials {
		if s.lastCall(0) {
			s.task.warn("MIPROv2: the budget was enough for %d of %d trials", trial, s.Trials)
			break
		}
		c := s.combine(estimator.propose(s.task.rand, s.isDone))
		if err := s.try(ctx, c); err != nil {
			return err
		}
		estimator.add(c.choice, c.gain())
		if (trial+1)%trialsPerFull == 0 {
			if err := s.acceptBest(ctx); err != nil {
				return err
			}
		}
	}
	return s.acceptBest(ctx)
}

// lastCall reports whether more runs would not leave enough of the budget for a trial and the last evaluation on all of
// Val.
func (s *miproSearch) lastCall(more int) bool {
	return !s.task.ledger.affords(more + len(s.task.val) + min(len(s.task.val), trialExamples))
}

// isDone reports whether the combination with the given choice has been evaluated on all of Val.
func (s *miproSearch) isDone(choice []int) bool {
	c := s.tried[fmt.Sprint(choice)]
	return c != nil && (c.accepted || len(c.gains) == len(s.task.val))
}

// combine returns the combination with the given choice.
func (s *miproSearch) combine(choice []int) *combination {
	key := fmt.Sprint(choice)
	if c := s.tried[key]; c != nil {
		return c
	}
	c := &combination{
		Candidate: newCandidate(s.task.start, "MIPROv2"), choice: choice, gains: map[int]float64{}, val: s.task.val,
	}
	for i, p := range s.predictors {
		state := c.states[p.Path]
		state.Instructions = s.instructions[i][choice[i]]
		if s.demos != nil {
			state.Demos = s.demos[i][choice[len(s.predictors)+i]]
		}
	}
	s.tried[key] = c
	return c
}

// try evaluates a combination on further examples of Val.
func (s *miproSearch) try(ctx context.Context, c *combination) error {
	var batch []int
	for _, i := range s.task.rand.Perm(len(s.task.val)) {
		if _, ok := c.gains[i]; !ok && len(batch) < trialExamples {
			batch = append(batch, i)
		}
	}
	if c.accepted || len(batch) == 0 {
		return nil
	}
	outcomes, err := s.task.evaluate(ctx, c.Candidate, valSplit, batch)
	if err != nil {
		return err
	}
	for i, o := range outcomes {
		c.gains[batch[i]] = o.Score.Value - s.task.start.Scores[batch[i]]
	}
	return nil
}

// acceptBest evaluates the most promising of the combinations that have not been evaluated on all of Val.
func (s *miproSearch) acceptBest(ctx context.Context) error {
	var best *combination
	for _, key := range slices.Sorted(maps.Keys(s.tried)) {
		if c := s.tried[key]; !c.accepted && (best == nil || c.gain() > best.gain()) {
			best = c
		}
	}
	if best == nil || best.gain() <= 0 {
		return nil
	}
	best.accepted = true
	if err := s.task.accept(ctx, best.Candidate); err != nil {
		return err
	}
	for i, score := range best.Scores {
		best.gains[i] = score - s.task.start.Scores[i]
	}
	return nil
}
