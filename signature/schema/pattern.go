package schema

import (
	"fmt"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/writ-go/writ/internal/jsonvalue"
)

const (
	maxPattern   = 2_000 // bytes
	matchTimeout = 100 * time.Millisecond
)

// pattern is an ECMAScript regular expression, which JSON Schema requires and Go's
// regexp package does not support. Matching backtracks, so it has a time limit.
// A match that takes longer ends the whole validation, since neither answer would be
// safe: under a "not", a value is valid if the pattern does not match.
type pattern struct {
	*regexp2.Regexp
	guard *guard
}

func compilePattern(source string, g *guard) (jsonschema.Regexp, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("it has %d bytes; the limit is %d", len(source), maxPattern)
	}
	re, err := regexp2.Compile(source, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = matchTimeout
	return &pattern{re, g}, nil
}

// MatchString reports whether s has a match. It panics if matching takes too long.
func (p *pattern) MatchString(s string) bool {
	matched, took, err := measure(func() (bool, error) { return p.Regexp.MatchString(s) })
	p.guard.patience -= took
	if err != nil || p.guard.patience < 0 {
		panic(slow{p.String()})
	}
	return matched
}

// A match that takes less than shortMatch is not repeated.
const shortMatch = 5 * time.Millisecond

// measure runs a match and returns how long the match took. It runs a long match twice
// and returns the shorter duration, since the clock also runs while the processor executes
// other processes.
func measure(match func() (bool, error)) (matched bool, took time.Duration, err error) {
	start := time.Now()
	matched, err = match()
	took = time.Since(start)
	if err == nil && took < shortMatch {
		return matched, took, nil
	}
	start = time.Now()
	matched, err = match()
	return matched, min(took, time.Since(start)), err
}

// slow is the panic value that ends a validation because a pattern takes too long.
type slow struct{ pattern string }

func (s slow) problem() problem {
	return problem{
		text: "cannot be checked: the pattern /" + jsonvalue.Clip(s.pattern) + "/ takes too long on this value",
	}
}
