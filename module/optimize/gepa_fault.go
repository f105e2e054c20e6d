package optimize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
)

// atFault returns the component to rewrite after runs that failed, or all of them with Together. Only a component that
// took part in these runs can be at fault. If the metric gave feedback for predictors, it is a component of one of
// them. If there are several predictors to choose from, the reflection model is asked. If it names none of them, the
// components take turns.
func (s *gepaSearch) atFault(ctx context.Context, parent *gepaCandidate, failed []outcome) ([]component, error) {
	var paths, named []string
	for _, c := range s.components {
		path := c.predictor.Path
		if slices.Contains(paths, path) || !slices.ContainsFunc(failed, c.tookPart) {
			continue
		}
		paths = append(paths, path)
		if slices.ContainsFunc(failed, func(o outcome) bool { return o.Score.For[path] != "" }) {
			named = append(named, path)
		}
	}
	if len(named) > 0 {
		paths = named
	}
	if len(paths) > 1 && !s.Together {
		reply, err := s.task.ask(ctx, s.faultPrompt(parent, paths, failed))
		if failure, ok := errors.AsType[*lm.Error](err); ok && failure.Kind == lm.KindContextTooLong {
			err = nil // they take turns
		}
		if err != nil {
			return nil, err
		}
		if named := strings.Trim(reply, " \n\t`\"'.*"); slices.Contains(paths, named) {
			paths = []string{named}
		}
	}
	var blamed []component
	for range s.components {
		if len(blamed) > 0 && !s.Together {
			break
		}
		c := s.components[parent.next]
		parent.next = (parent.next + 1) % len(s.components)
		if slices.Contains(paths, c.predictor.Path) && slices.ContainsFunc(failed, c.tookPart) {
			blamed = append(blamed, c)
		}
	}
	return blamed, nil
}

// faultPrompt asks which of the predictors caused wrong answers.
func (s *gepaSearch) faultPrompt(parent *gepaCandidate, paths []string, failed []outcome) string {
	var b strings.Builder
	b.WriteString("A program asks a language model in several steps, and some of its answers are wrong. " +
		"These are the steps:\n\n")
	for _, p := range s.task.predictors {
		fmt.Fprintf(&b, "Step %s. ", p.Path)
		writeStep(&b, p)
		element(&b, "instructions", data(parent.states[p.Path].Instructions))
	}
	var examples []string
	for _, o := range failed {
		var e strings.Builder
		for _, p := range s.task.predictors {
			var calls strings.Builder
			writePredictorCalls(&calls, p, o.Calls)
			element(&calls, "feedback-for-the-step", data(o.Score.For[p.Path]))
			element(&e, "step-"+p.Path, prompt.Cut(calls.String(), maxBriefing))
		}
		writeResult(&e, s.task.train[o.item], o, true)
		examples = append(examples, e.String())
	}
	writeExamples(&b, "These are examples of what happened.", 1, examples)
	fmt.Fprintf(&b, "\nWhich step caused the wrong answers: the first step whose output is wrong although its inputs "+
		"are right? Reply only with its name, which is one of: %s\n\n%s", strings.Join(paths, ", "), asData)
	return b.String()
}
