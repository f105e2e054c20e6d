package module

import (
	"errors"
	"fmt"

	"github.com/writ-go/writ/module/internal/ballot"
	"github.com/writ-go/writ/module/internal/lm"
)

// Majority returns the most frequent answer from several runs, such as those of [Samples]. If several answers are
// equally frequent, it returns the first of them. Runs without an answer do not count. Key returns the value to
// compare, such as one field of the output; encoding/json must be able to encode it. If key is nil, whole outputs are
// compared.
//
//	module.Majority(results, func(v Verdict) any { return v.Mood })
//
// Two values are equal if their JSON is equal. The order of members does not matter, and neither do case, English
// articles, spacing and punctuation in strings. Punctuation within numbers does matter.
//
// All answers' trajectories are in the prediction's Trajectory.Runs. Majority returns an error if there are no answers,
// a value cannot be encoded, or key panics.
func Majority[Out any](results []Result[Out], key func(Out) any) (*Prediction[Out], error) {
	answers := answersOf(results)
	if len(answers) == 0 {
		return nil, errNoAnswers
	}
	var all Trajectory
	keys, votes := make([]string, len(answers)), map[string]int{}
	for i, a := range answers {
		var err error
		if keys[i], err = vote(a.Output, key); err != nil {
			return nil, fmt.Errorf("module: answer %d cannot be counted: %w", i+1, err)
		}
		votes[keys[i]]++
		all.Runs = append(all.Runs, a.Trajectory)
	}
	first := 0
	for i := range answers {
		if votes[keys[i]] > votes[keys[first]] {
			first = i
		}
	}
	all.Chosen = first + 1
	return &Prediction[Out]{Output: answers[first].Output, Trajectory: all}, nil
}

var errNoAnswers = errors.New("module: no run has an answer, so there is no majority")

// answersOf returns the predictions of the runs that have one.
func answersOf[Out any](results []Result[Out]) (answers []*Prediction[Out]) {
	for _, r := range results {
		if r.Err == nil && r.Prediction != nil {
			answers = append(answers, r.Prediction)
		}
	}
	return answers
}

// vote returns a string that is the same for all outputs that count as equal.
func vote[Out any](out Out, key func(Out) any) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = lm.NewPanic("the key", p)
		}
	}()
	var counted any = out
	if key != nil {
		counted = key(out)
	}
	return ballot.Of(counted)
}
