package module

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"strings"

	"github.com/writ-go/writ/module/internal/parts"
)

// attempt returns the copy of a module that makes attempt i of n. Its predictors have rollouts that differ
// from those of the other attempts, even if attempts are nested. The hints, by the paths of the predictors,
// are added to those that the predictors have.
func attempt[In, Out any](m Module[In, Out], i, n int, hints map[string]string) (Module[In, Out], error) {
	if err := missing(m); err != nil {
		return nil, err
	}
	for _, p := range Predictors(m) {
		if p.Spec == nil {
			continue // the run reports it
		}
		if p.shares == sharedConversation {
			return nil, errors.New("module: a Chat cannot make attempts, since all of them would be turns of one " +
				"conversation; use a CodeAct")
		}
		p.systemPrompt(p.Briefing) // once, not in each copy
		if err := p.valid(); err != nil {
			return nil, err
		}
	}
	copied, err := parts.Clone(m, (*Predictor).Clone, (*Predictor).within, checkCopy)
	if err != nil {
		return nil, err
	}
	found := false
	for path, p := range Predictors(copied) {
		found = true
		p.Rollout = rollout(p.Rollout, n, i)
		if p.Temperature == nil {
			varied := 1.0
			p.Temperature = &varied
		}
		p.Hint = strings.TrimSpace(p.Hint + "\n\n" + hints[path])
	}
	if !found {
		return nil, fmt.Errorf("module: %T has no Predictor in its exported fields, so all attempts would be "+
			"the same; export the fields with its modules", m)
	}
	return copied, nil
}

// missing returns an error if m is nil or a nil pointer.
func missing(m any) error {
	switch v := reflect.ValueOf(m); {
	case m == nil:
		return errNoModule
	case v.Kind() == reflect.Pointer && v.IsNil():
		return fmt.Errorf("module: the module is a nil %T; pass one that was made by its New function", m)
	}
	return nil
}

// rollout returns the number of attempt i of n within the rollout outer. If the numbers overflow, it returns
// a hash.
func rollout(outer, n, i int) int {
	if outer >= 0 && outer <= (math.MaxInt-i)/n {
		return outer*n + i
	}
	sum := fnv.New64a()
	fmt.Fprintln(sum, outer, n, i)
	return -1 - int(sum.Sum64()>>1)
}

// rollouts returns n copies of a module that give different answers to the same input, as [Samples] uses them: their
// Predictors have a Rollout of their own, so that a cache gives different replies, and a Temperature of 1 unless they
// have one. It returns an error if the module has no Predictors or, like a [Chat], cannot be copied.
func rollouts[In, Out any](m Module[In, Out], n int) ([]Module[In, Out], error) {
	switch {
	case n < 1:
		return nil, errNoAttempts
	case n > maxAttempts:
		return nil, fmt.Errorf("module: %d attempts are too many to prepare; the limit is %d at a time", n, maxAttempts)
	}
	list := make([]Module[In, Out], n)
	for i := range list {
		var err error
		if list[i], err = attempt(m, i, n, nil); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// maxAttempts limits the attempts that are prepared at once.
const maxAttempts = 10_000

var (
	errNoModule   = errors.New("module: the module is nil; pass one")
	errNoAttempts = errors.New("module: the number of attempts must be at least 1")
)
