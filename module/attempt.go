package module

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"strings"
)

// attempt returns the copy of a module that makes the i-th of n attempts. Its
// predictors are told from those of the other attempts, also where attempts are
// made within attempts. The hints are by path, and come after those that are
// there.
func attempt[In, Out any](m Module[In, Out], i, n int, hints map[string]string) (Module[In, Out], error) {
	if err := missing(m); err != nil {
		return nil, err
	}
	for _, p := range Predictors(m) {
		if err := p.prepare(); err != nil {
			return nil, err
		}
	}
	c := newCloning()
	copied := cloned(c, m)
	if c.locks != nil {
		return nil, c.locks
	}
	asks := false
	for path, p := range Predictors(copied) {
		asks = true
		p.Rollout = rollout(p.Rollout, n, i)
		if p.Temperature == nil {
			varied := 1.0
			p.Temperature = &varied
		}
		p.Hint = strings.TrimSpace(p.Hint + "\n\n" + hints[path])
	}
	if !asks {
		return nil, fmt.Errorf("module: no exported field of %T leads to a Predictor, so that one attempt would be as the other; export the fields with its modules", m)
	}
	return copied, nil
}

// missing says that there is no module, also where there is the type of one.
func missing(m any) error {
	switch v := reflect.ValueOf(m); {
	case m == nil:
		return errNoModule
	case v.Kind() == reflect.Pointer && v.IsNil():
		return fmt.Errorf("module: the module is a nil %T; pass one that is made", m)
	}
	return nil
}

// rollout numbers the i-th of n attempts within that of the number outer. Where no
// number is left, as where n stands for no limit, another one is very likely.
func rollout(outer, n, i int) int {
	if outer >= 0 && outer <= (math.MaxInt-i)/n {
		return outer*n + i
	}
	sum := fnv.New64a()
	fmt.Fprintln(sum, outer, n, i)
	return -1 - int(sum.Sum64()>>1)
}

// prepare makes the system prompt and checks the demos, so that copies share that.
func (p *Predictor) prepare() error {
	if p.Spec == nil {
		return nil // the run says so
	}
	p.systemPrompt()
	return p.sound()
}

// copies returns the copies of a module that make n attempts.
func copies[In, Out any](m Module[In, Out], n int) ([]Module[In, Out], error) {
	switch {
	case n < 1:
		return nil, errNoAttempts
	case n > maxAttempts:
		return nil, fmt.Errorf("module: %d attempts are too many to prepare; make no more than %d, several times", n, maxAttempts)
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

// maxAttempts bounds the attempts that are prepared at once.
const maxAttempts = 10_000

var errNoAttempts = errors.New("module: there must be at least one attempt; pass a number from 1")
