package schema

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxPattern   = 2_000 // bytes
	matchTimeout = 100 * time.Millisecond
	penalty      = time.Second
)

// pattern is an ECMAScript regular expression, which JSON Schema asks for and
// Go's own do not support. It backtracks, so a match has a time limit; a match
// that exceeds it counts as none, and for a second all others do too: a list of
// hostile strings costs one timeout and not thousands.
type pattern struct {
	*regexp2.Regexp
	blocked atomic.Int64 // until when, in Unix nanoseconds
}

func compilePattern(source string) (jsonschema.Regexp, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("it has %d bytes; at most %d are taken", len(source), maxPattern)
	}
	re, err := regexp2.Compile(source, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = matchTimeout
	return &pattern{Regexp: re}, nil
}

// MatchString reports whether s has a match.
func (p *pattern) MatchString(s string) bool {
	if time.Now().UnixNano() < p.blocked.Load() {
		return false
	}
	matched, err := p.Regexp.MatchString(s)
	if err != nil {
		p.blocked.Store(time.Now().Add(penalty).UnixNano())
	}
	return matched && err == nil
}
