package optimize

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/writ-go/writ/module"
)

// LabeledFewShot shows the model a random sample of Train as demos, with the expected answers as they are. If answers
// repeat, as in a classification, the sample has about equally many examples of each. It calls models only to score the
// result. Use it first: it shows whether demos help at all.
//
// A predictor can have such demos only if the examples have its fields. For a module that writes programs, and for the
// inner predictors of a module with several predictors, use [BootstrapFewShot].
//
// The method was published by Brown et al., "Language Models are Few-Shot Learners" (NeurIPS 2020).
type LabeledFewShot struct {
	K int // the number of demos; zero means 16
}

func (o LabeledFewShot) optimize(ctx context.Context, t *task) error {
	c := newCandidate(t.start, "LabeledFewShot")
	if t.setLabeled(c, t.balanced(), cmp.Or(o.K, 16)) == 0 {
		return errNoFields("use BootstrapFewShot, whose demos come from runs of the module")
	}
	return t.accept(ctx, c)
}

func errNoFields(advice string) error {
	return fmt.Errorf("optimize: the examples cannot become demos, because each predictor that the search may change "+
		"has a field that the examples lack; %s", advice)
}

func (o LabeledFewShot) estimate(t *task) Spent { return Spent{StudentCalls: len(t.val)} }

// setLabeled sets the demos of the predictors that the search may change to at most k examples. It returns the number
// of demos.
func (t *task) setLabeled(c *Candidate, order []int, k int) (n int) {
	for _, p := range t.unfrozen() {
		if demos := t.labeled(p, order[:max(min(k, len(order)), 0)]); len(demos) > 0 {
			c.states[p.Path].Demos = demos
			n += len(demos)
		}
	}
	return n
}

// BootstrapFewShot shows the model successful runs as demos. A teacher answers examples of Train. If an answer reaches
// the Threshold, the calls in the run become demos of the predictors that made them, with the reasoning and the
// programs. If there are too few such demos, examples of Train are added as they are. Use it if an answer takes several
// steps or several predictors, and you have at least ten examples.
//
// The teacher is the module itself, with Options.Teacher as its model if that is set. It has labeled demos, and in
// later rounds the successful runs as well, but never the demo of the example that it answers.
//
// The method was published by Khattab et al., "DSPy: Compiling Declarative Language Model Calls into Self-Improving
// Pipelines" (ICLR 2024).
type BootstrapFewShot struct {
	// MaxBootstrapped is the maximum number of demos from runs. Zero means 4, or as many as MaxLabeled if a predictor
	// can have no other demos, because the examples lack its fields.
	MaxBootstrapped int

	MaxLabeled int // all demos of a predictor; zero means 16, and a negative number means only demos from runs

	// Rounds is the maximum number of times that the teacher tries an example. Zero means 1, or 2 if a predictor can
	// have no demos but those from runs. In later rounds, the temperature is 1 unless the module sets one.
	Rounds int

	// Threshold is the lowest score of a run whose replies become demos. Zero means 1.
	Threshold float64
}

func (o BootstrapFewShot) withDefaults(t *task) BootstrapFewShot {
	bootstrapped, rounds := 4, 1
	if slices.ContainsFunc(t.unfrozen(), func(p predictor) bool { return !t.hasFields(p) }) {
		bootstrapped, rounds = cmp.Or(max(o.MaxLabeled, 0), 16), 2
	}
	o.MaxBootstrapped, o.Rounds = cmp.Or(max(o.MaxBootstrapped, 0), bootstrapped), cmp.Or(max(o.Rounds, 0), rounds)
	o.MaxLabeled, o.Threshold = cmp.Or(o.MaxLabeled, 16), cmp.Or(o.Threshold, 1)
	return o
}

// hasFields reports whether examples of Train can become demos of a predictor as they are.
func (t *task) hasFields(p predictor) bool {
	return slices.ContainsFunc(t.train, func(i item) bool {
		d, ok := p.labeled(i)
		return ok && p.accepts(d)
	})
}

func (o BootstrapFewShot) optimize(ctx context.Context, t *task) error {
	c, n, err := o.bootstrap(ctx, t, t.balanced(), "BootstrapFewShot")
	if err != nil {
		return err
	}
	if n == 0 {
		t.warnNoTraces(o.withDefaults(t).Threshold)
	}
	return t.accept(ctx, c)
}

func (t *task) warnNoTraces(threshold float64) {
	t.warn("no run of the teacher reached the score %g, so there are no demos from runs; set a better "+
		"Options.Teacher, more Rounds or a lower Threshold", threshold)
}

func (o BootstrapFewShot) estimate(t *task) Spent {
	o = o.withDefaults(t)
	return t.taught(len(t.train)*o.Rounds, len(t.val))
}

// taught estimates the calls of models from the numbers of runs of the teacher and of the student.
func (t *task) taught(teacher, student int) Spent {
	if t.options.Teacher == nil {
		return Spent{StudentCalls: teacher + student}
	}
	return Spent{TeacherCalls: teacher, StudentCalls: student}
}

// bootstrap returns a candidate with demos made from Train, and the number of successful runs of the teacher. The
// teacher tries the examples in the given order. The candidate has not been evaluated.
func (o BootstrapFewShot) bootstrap(ctx context.Context, t *task, order []int, by string) (*Candidate, int, error) {
	o = o.withDefaults(t)
	prompted := newCandidate(t.start, "teacher")
	t.setLabeled(prompted, order, o.MaxLabeled)
	traces, err := o.teach(ctx, t, prompted, order)
	if err != nil {
		return nil, 0, err
	}
	return o.shown(t, traces, order, maxRuns, by), len(traces), nil
}

// shown returns a candidate with demos from runs, up to about maxBytes for each predictor, and with other examples as
// they are if there are too few runs.
func (o BootstrapFewShot) shown(t *task, traces []outcome, order []int, maxBytes int, by string) *Candidate {
	c := newCandidate(t.start, by)
	rest := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return t.repeats(i, indicesOf(traces)) })
	for _, p := range t.unfrozen() {
		var demos []module.Demo
		bytes := 0
		for _, trace := range traces {
			if traced := t.traced(p, trace); len(traced) > 0 && bytes < maxBytes {
				demos = append(demos, traced[t.rand.IntN(len(traced))])
				bytes += len(demoKey(demos[len(demos)-1]))
			}
		}
		more := min(max(o.MaxLabeled-len(demos), 0), len(rest))
		if demos = append(demos, t.labeled(p, rest[:more])...); len(demos) > 0 {
			c.states[p.Path].Demos = demos
		}
	}
	return c
}

// teach returns successful runs of the teacher, at most one for each example. It runs as many examples at the same time
// as runs are still needed.
func (o BootstrapFewShot) teach(ctx context.Context, t *task, c *Candidate, order []int) (good []outcome, err error) {
	left := slices.Clone(order)
	for round := range o.Rounds {
		if round > 0 {
			c = o.shown(t, good, order, maxRuns, "teacher")
		}
		var failed []int
		for len(left) > 0 && len(good) < o.MaxBootstrapped {
			n := min(o.MaxBootstrapped-len(good), len(left))
			outcomes, err := t.teach(ctx, c, left[:n], round)
			if err != nil {
				return nil, err
			}
			left = left[n:]
			for _, outcome := range outcomes {
				if outcome.reaches(o.Threshold) {
					good = append(good, outcome)
				} else {
					failed = append(failed, outcome.item)
				}
			}
		}
		left = failed
	}
	return good, nil
}

// BootstrapRandomSearch tries many sets of demos and keeps the set that scores best on Val. It tries labeled demos
// alone, the demos of [BootstrapFewShot], and random numbers of demos that BootstrapFewShot makes from examples in
// random order. Use it if BootstrapFewShot helps and there are at least 50 examples. It is simple, and few searches
// find better demos.
//
// The method was published by Khattab et al., "DSPy: Compiling Declarative Language Model Calls into Self-Improving
// Pipelines" (ICLR 2024).
type BootstrapRandomSearch struct {
	BootstrapFewShot

	Candidates int // the number of random sets; zero means 16
}

func (o BootstrapRandomSearch) optimize(ctx context.Context, t *task) error {
	b := o.withDefaults(t)
	done := func(c *Candidate) bool { return c.Score >= 1 }
	labeled := newCandidate(t.start, "BootstrapRandomSearch: labeled demos")
	if t.setLabeled(labeled, t.balanced(), b.MaxLabeled) > 0 {
		if err := t.accept(ctx, labeled); err != nil || done(labeled) {
			return err
		}
	}
	traces := 0
	for i := range cmp.Or(max(o.Candidates, 0), 16) + 1 {
		if i > 0 {
			b.MaxBootstrapped = 1 + t.rand.IntN(o.withDefaults(t).MaxBootstrapped)
		}
		c, n, err := b.bootstrap(ctx, t, t.balanced(), fmt.Sprintf("BootstrapRandomSearch: set %d", i+1))
		if err != nil {
			return err
		}
		traces += n
		if err := t.accept(ctx, c); err != nil || done(c) {
			return err
		}
	}
	if traces == 0 {
		t.warnNoTraces(b.Threshold)
	}
	return nil
}

func (o BootstrapRandomSearch) estimate(t *task) Spent {
	n := cmp.Or(max(o.Candidates, 0), 16)
	return t.taught((n+1)*len(t.train)*o.withDefaults(t).Rounds, (n+2)*len(t.val))
}

// inOrder returns the indices 0 to n-1.
func inOrder(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// indicesOf returns the indices of the examples of outcomes.
func indicesOf(outcomes []outcome) []int {
	list := make([]int, len(outcomes))
	for i, o := range outcomes {
		list[i] = o.item
	}
	return list
}
