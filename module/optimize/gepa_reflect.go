package optimize

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// reflect has the reflection model rewrite one component of a candidate, based on what the candidate did on a
// minibatch. The rewrite is accepted if it is better on the minibatch, and not worse on a part of Val. A rewrite that
// was rejected on another minibatch gets a second chance.
func (s *gepaSearch) reflect(ctx context.Context) error {
	parent := s.parent()
	batch, before, err := s.mistakes(ctx, parent)
	if err != nil {
		return err
	}
	failed := s.failed(nil, before)
	if s.idle++; len(failed) == 0 {
		return nil
	}
	s.idle = 0
	blamed, err := s.atFault(ctx, parent, failed)
	if err != nil || len(blamed) == 0 {
		return err
	}
	seen := slices.Concat(before, s.recall(parent, batch))
	parent.failed = s.failed(parent.failed, before)
	var names []string
	for _, c := range blamed {
		names = append(names, c.name())
	}
	by := strings.Join(names, " and ")
	child, changed := newCandidate(parent.Candidate, "GEPA: reflection on "+by), false
	for _, c := range blamed {
		text, err := s.rewrite(ctx, parent.Candidate, c, seen)
		if err != nil {
			return err
		}
		if text != "" {
			c.set(child, text)
			changed = true
		}
	}
	if s.useless++; !changed {
		return nil
	}
	if s.isNew(child) {
		s.useless = 0
	} else {
		s.task.warn("GEPA: for %s, the reflection model returned a text that it has returned before; use a higher "+
			"temperature or another model", by)
	}
	if s.tried[child.content()] {
		return nil
	}
	after, err := s.task.evaluate(ctx, child, trainSplit, batch)
	if err != nil {
		return err
	}
	if total(after) <= total(before) {
		s.task.reject(child, "it is not better on the examples of Train that the reflection model saw")
		return nil
	}
	promising, err := s.promising(ctx, child, parent)
	if err != nil {
		return err
	}
	if !promising {
		s.task.reject(child, "it is worse than its parent on a part of Val")
		return nil
	}
	return s.accept(ctx, &gepaCandidate{Candidate: child, next: parent.next, failed: s.failed(nil, after)})
}

// mistakes runs a candidate on minibatches until it makes a mistake, or has been run on all of Train. It returns the
// last minibatch.
func (s *gepaSearch) mistakes(ctx context.Context, c *gepaCandidate) (batch []int, outcomes []outcome, err error) {
	for n := 0; n < s.batches.n; n += s.batches.size {
		batch = s.batches.next()
		outcomes, err = s.task.evaluate(ctx, c.Candidate, trainSplit, batch)
		if err != nil || len(s.failed(nil, outcomes)) > 0 {
			break
		}
	}
	return batch, outcomes, err
}

// parent returns the candidate to continue from.
func (s *gepaSearch) parent() *gepaCandidate {
	if !s.FromBest {
		return s.pool[pickFromFront(s.task.rand, s.front())]
	}
	return slices.MaxFunc(s.pool, func(a, b *gepaCandidate) int { return cmp.Compare(a.Score, b.Score) })
}

// promising reports whether a rewrite is at least as good as its parent on a part of Val. If it is not, it was probably
// better on the minibatch only by chance, and running it on the rest of Val would be a waste.
func (s *gepaSearch) promising(ctx context.Context, child *Candidate, parent *gepaCandidate) (bool, error) {
	n := len(parent.Scores)
	sample := s.task.rand.Perm(n)[:min(n, max(n/4, mergeSample))]
	outcomes, err := s.task.evaluate(ctx, child, valSplit, sample)
	return total(outcomes) >= s.task.totalOnVal(parent, sample), err
}

// recalled is the maximum number of earlier failures that the reflection model sees in addition to the minibatch.
const recalled = 5

// recall returns the latest failures of the candidate that are not in the minibatch.
func (s *gepaSearch) recall(c *gepaCandidate, batch []int) []outcome {
	var earlier []outcome
	for _, o := range slices.Backward(c.failed) {
		if len(earlier) < recalled && !s.task.repeats(o.item, batch) {
			earlier = append(earlier, o)
		}
	}
	return earlier
}

// failed adds the outcomes that are not perfect to known, at most one for each example.
func (s *gepaSearch) failed(known, outcomes []outcome) []outcome {
	for _, o := range outcomes {
		again := func(other outcome) bool { return other.item == o.item }
		if o.reaches(s.perfect) || slices.ContainsFunc(known, again) {
			continue
		}
		known = append(known, o)
	}
	return known
}

// tookPart reports whether the predictor made a call in a run or, for a note, whether the tool was called.
func (c component) tookPart(o outcome) bool {
	if c.tool == "" {
		return slices.ContainsFunc(o.Calls, func(call predictorCall) bool { return call.Path == c.predictor.Path })
	}
	if o.Trajectory != nil {
		for call := range o.Trajectory.AllCalls() {
			if call.Tool == c.tool {
				return true
			}
		}
	}
	return false
}

// rewrite asks the reflection model for a new text of a component. It returns "" if the reply has no usable text.
func (s *gepaSearch) rewrite(ctx context.Context, parent *Candidate, c component, outcomes []outcome) (string, error) {
	current := c.text(parent)
	if c.tool != "" {
		return askForText(ctx, s.task, toolPrompt(c, current, s.examples(c, outcomes)))
	}
	return askForText(ctx, s.task, reflectionPrompt(c.predictor, current, s.examples(c, outcomes),
		s.task.someOfTrain(otherExamples, indicesOf(outcomes)...)))
}
