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

// pattern is an ECMAScript regular expression, which JSON Schema asks for and
// Go's own do not support. It backtracks, so matches have a time limit. Whether
// there is a match that was not found in time is unknown, and under a "not" either
// answer could let a value pass: the whole validation ends.
type pattern struct {
	*regexp2.Regexp
	guard *guard
}

// CheckPattern returns an error if [Compile] refuses a regular expression.
func CheckPattern(source string) error {
	_, err := compilePattern(source, nil)
	return err
}

func compilePattern(source string, g *guard) (jsonschema.Regexp, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("it has %d bytes; at most %d are taken", len(source), maxPattern)
	}
	re, err := regexp2.Compile(source, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = matchTimeout
	return &pattern{re, g}, nil
}

// MatchString reports whether s has a match.
func (p *pattern) MatchString(s string) bool {
	matched, took, err := undisturbed(func() (bool, error) { return p.Regexp.MatchString(s) })
	p.guard.patience -= took
	if err != nil || p.guard.patience < 0 {
		panic(slow{p.String()})
	}
	return matched
}

// quickly is how long a match takes of which nothing more need be known.
const quickly = 5 * time.Millisecond

// undisturbed tries a match, and once more if it took long: the clock also runs while
// others have the processor. The shorter one counts.
func undisturbed(match func() (bool, error)) (matched bool, took time.Duration, err error) {
	start := time.Now()
	matched, err = match()
	took = time.Since(start)
	if err == nil && took < quickly {
		return matched, took, nil
	}
	start = time.Now()
	matched, err = match()
	return matched, min(took, time.Since(start)), err
}

// slow is the panic that ends a validation in which a pattern took too long.
type slow struct{ pattern string }

func (s slow) problem() problem {
	return problem{text: "could not be checked: the pattern /" + jsonvalue.Clip(s.pattern) + "/ takes too long on this value"}
}
