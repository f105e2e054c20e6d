package tools

import (
	"fmt"
	"slices"
	"strings"
)

// Guard is implemented by the Caller that a [Policy] returns, if the policy
// answers for calls of some tools: somebody is asked before they are made, or
// they are refused, or the host said that neither is needed.
type Guard interface {
	Caller

	// Guards reports whether the policy answers for every call of a tool. It
	// does not look at the Caller that the policy stands around.
	Guards(b *Binding) bool
}

// Warner is implemented by the Caller that a [Policy] returns, if the policy can
// tell without any call that it is not what was meant: it was made wrongly, or is
// for a tool that there is not.
type Warner interface {
	Caller

	// Warnings says what the host should know of the policy around these tools.
	// It does not look at the Caller that the policy stands around.
	Warnings(all []*Binding) []string
}

// unguarded warns of destructive tools for which no policy answers.
func (s *Set) unguarded() []string {
	var open []string
	for _, b := range s.bindings {
		if b.Hints.Destructive && !s.guarded(b) {
			open = append(open, b.Path())
		}
	}
	const shown = 5
	switch more := len(open) - shown; {
	case len(open) == 0:
		return nil
	case more > 0:
		open = append(open[:shown], fmt.Sprintf("%d more", more))
	}
	return []string{fmt.Sprintf(
		"nobody is asked before these destructive tools are called: %s; add policy.Approve to the set, or "+
			"policy.AllowDestructive if that is meant",
		strings.Join(open, ", "))}
}

func (s *Set) guarded(b *Binding) bool {
	for _, p := range s.policies {
		if p.Guards(b) {
			return true
		}
	}
	return false
}

// Guards reports whether the policy answers for every call of a tool: whether
// what it makes of a Caller is a [Guard] that says so.
func (p Policy) Guards(b *Binding) bool {
	guard, ok := p.probe().(Guard)
	return ok && guard.Guards(b)
}

// Warnings returns what the policy says of itself around these tools: what the
// [Warner] that it makes of a Caller says, if it is one.
func (p Policy) Warnings(all []*Binding) []string {
	if warner, ok := p.probe().(Warner); ok {
		return warner.Warnings(all)
	}
	return nil
}

// probe is what the policy makes of a Caller that is never called.
func (p Policy) probe() (c Caller) {
	defer func() {
		if recover() != nil { // a nil policy, say; its calls will tell
			c = nil
		}
	}()
	return p(CallerFunc(nil))
}

// misplaced warns of policies that are not what was meant.
func (s *Set) misplaced() []string {
	var all []string
	for _, p := range s.policies {
		for _, warning := range p.Warnings(s.bindings) {
			if !slices.Contains(all, warning) {
				all = append(all, warning)
			}
		}
	}
	return all
}
