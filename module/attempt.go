package module

import (
	"errors"
	"fmt"
	"strings"
)

// attempt returns the copy of a module that makes the i-th of n attempts. Its
// predictors are told from those of the other attempts, also where attempts are
// made within attempts. The hints are by path, and come after those that are
// there.
func attempt[In, Out any](m Module[In, Out], i, n int, hints map[string]string) (Module[In, Out], error) {
	if m == nil {
		return nil, errNoModule
	}
	for _, p := range Predictors(m) {
		p.prepare()
	}
	c := newCloning()
	copied := cloned(c, m)
	if c.locks != nil {
		return nil, c.locks
	}
	asks := false
	for path, p := range Predictors(copied) {
		asks = true
		p.Rollout = p.Rollout*n + i
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

// prepare makes the system prompt, so that copies share it.
func (p *Predictor) prepare() {
	if p.Spec != nil {
		p.systemPrompt()
	}
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

var errNoAttempts = errors.New("module: there must be at least one attempt")

// did keeps what a part of a run did, if it did anything, and returns as which of
// the attempts, or 0.
func (t *Trajectory) did(part Trajectory) int {
	if len(part.Steps)+len(part.Attempts)+len(part.Effects) == 0 && part.Spent == (Usage{}) {
		return 0
	}
	t.Attempts = append(t.Attempts, part)
	return len(t.Attempts)
}
