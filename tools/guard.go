package tools

import (
	"fmt"
	"slices"
	"strings"
)

// unguarded returns a warning about destructive tools that no policy guards, if there are any.
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
		"destructive tools can be called without approval: %s; add policy.Approve to the set, or "+
			"policy.AllowDestructive if that is intended",
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

// Guards reports whether the policy guards a tool: whether it refuses every call to the tool, asks for approval of
// every call, or declares that neither is needed. Guards calls the method Guards(*Binding) bool of the Caller that the
// policy returns. A policy without that method guards nothing. The method must not use the Caller that the policy
// wraps.
func (p Policy) Guards(b *Binding) bool {
	guard, ok := p.probe().(interface{ Guards(b *Binding) bool })
	return ok && guard.Guards(b)
}

// Warnings returns warnings for the host, for example that the policy names a tool that is not in
// all. Warnings calls the method Warnings(all []*Binding) []string of the Caller that the policy
// returns, if the Caller has that method. The method must not use the Caller that the policy wraps.
func (p Policy) Warnings(all []*Binding) []string {
	w, ok := p.probe().(interface{ Warnings(all []*Binding) []string })
	if !ok {
		return nil
	}
	return w.Warnings(all)
}

// probe applies the policy to a Caller that is never called. It returns nil if the policy
// panics.
func (p Policy) probe() (c Caller) {
	defer func() {
		if recover() != nil { // for example, the policy is nil; its calls report the panic
			c = nil
		}
	}()
	return p(CallerFunc(nil))
}

// policyWarnings returns the warnings of the policies, without duplicates.
func (s *Set) policyWarnings() []string {
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
