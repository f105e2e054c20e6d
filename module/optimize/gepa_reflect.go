package optimize

import (
	"context"
	"slices"
)

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

// rewrite asks the reflection model for a new text of a component. See askForText.
func (s *gepaSearch) rewrite(ctx context.Context, p *proposal, c component) (text string, err error) {
	current, examples := c.text(p.parent.Candidate), s.examples(c, p.seen)
	if c.tool != "" {
		return askForText(ctx, s.task, toolPrompt(c, current, examples))
	}
	return askForText(ctx, s.task, reflectionPrompt(c.predictor, current, examples,
		s.task.someOfTrain(p.rand, otherExamples, indicesOf(p.seen)...)))
}
