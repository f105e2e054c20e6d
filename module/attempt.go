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

// attempt returns a copy of m for attempt i of n. The Rollouts of its predictors differ from those of all other
// attempts, even if attempts are nested. The hints, by the paths of the predictors, are added to the predictors' own
// hints.
func attempt[In, Out any](m Module[In, Out], i, n int, hints map[string]string) (Module[In, Out], error) {
	if err := checkModule(m); err != nil {
		return nil, err
	}
	for _, p := range Predictors(m) {
		if p.Spec == nil {
			continue // Run reports the missing spec
		}
		if p.shares == sharedConversation {
			return nil, errors.New("module: a Chat cannot make attempts, since all of them would be turns of one " +
				"conversation; use a CodeAct")
		}
		p.systemPrompt(p.Briefing) // cached, so that the copies need not write it again
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
			"the same; export the fields that hold its modules", m)
	}
	return copied, nil
}

// checkModule returns an error if m is nil or a nil pointer.
func checkModule(m any) error {
	switch v := reflect.ValueOf(m); {
	case m == nil:
		return errNoModule
	case v.Kind() == reflect.Pointer && v.IsNil():
		return fmt.Errorf("module: the module is a nil %T; create it with its New function", m)
	}
	return nil
}

// rollout returns the Rollout of attempt i of n. Outer is the Rollout of the predictor that is copied. If the numbers
// overflow, it returns a hash.
func rollout(outer, n, i int) int {
	if outer >= 0 && outer <= (math.MaxInt-i)/n {
		return outer*n + i
	}
	sum := fnv.New64a()
	fmt.Fprintln(sum, outer, n, i)
	return -1 - int(sum.Sum64()>>1)
}

// rollouts returns n copies of m for independent attempts at the same input. Their Predictors have their own Rollout,
// so that a cache returns a different reply to each copy, and a Temperature of 1 unless one is set. rollouts returns an
// error if m has no Predictors or, like a [Chat], cannot make attempts.
func rollouts[In, Out any](m Module[In, Out], n int) ([]Module[In, Out], error) {
	switch {
	case n < 1:
		return nil, errNoAttempts
	case n > maxAttempts:
		return nil, fmt.Errorf("module: %d attempts are too many; make at most %d", n, maxAttempts)
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

// maxAttempts is the largest number of copies that rollouts makes.
const maxAttempts = 10_000

var (
	errNoModule   = errors.New("module: the module is nil; pass a module")
	errNoAttempts = errors.New("module: the number of attempts must be at least 1")
)
