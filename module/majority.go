package module

import (
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/module/internal/ballot"
)

// Majority returns the most frequent answer; if several are equally frequent, it returns the first of them. The
// function key returns the value to compare, such as one field of the output: any value that encoding/json can
// encode. If key is nil, whole outputs are compared.
//
//	module.Majority(answers, func(v Verdict) any { return v.Mood })
//
// Two values are equal if their JSON is equal. The order of members does not matter, nor do case, English articles,
// spacing and punctuation in strings; punctuation within numbers does.
//
// The trajectories of all answers are in Trajectory.Runs of the prediction. Majority returns an error if there
// are no answers, a value cannot be encoded, or key panics.
func Majority[Out any](answers []*Prediction[Out], key func(Out) any) (*Prediction[Out], error) {
	if len(answers) == 0 || slices.Contains(answers, nil) {
		return nil, errNoPredictions
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

var errNoPredictions = errors.New("module: there are no predictions, or one of them is nil; " +
	"pass those that are answers, such as Results.Predictions")

// vote returns what is counted of an output.
func vote[Out any](out Out, key func(Out) any) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = newPanic("the key", p)
		}
	}()
	var counted any = out
	if key != nil {
		counted = key(out)
	}
	return ballot.Of(counted)
}
