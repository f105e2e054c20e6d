package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// choice explains why no alternative fits, with the problems of the alternative that
// was probably meant. It returns nil if an alternative may still fit.
func (x *explainer) choice(e *jsonschema.ValidationError) []problem {
	var branches [][]problem
	for _, cause := range e.Causes {
		problems := x.explain(cause)
		if len(problems) == 0 {
			return nil
		}
		branches = append(branches, problems)
	}
	here := e.InstanceLocation
	meant := prefer(branches, func(b []problem) bool { return !wrongKind(b, here) })
	meant = prefer(meant, func(b []problem) bool { return !slices.ContainsFunc(b, wrongValue) })
	if len(meant) == 1 {
		return meant[0]
	}
	if p, ok := common(prefer(branches, func(b []problem) bool { return !wrongKind(b, here) })); ok {
		return []problem{p}
	}
	return []problem{x.noneFits(here, branches, meant)}
}

// prefer returns the branches that meet a condition, or all branches if no branch meets it.
func prefer(branches [][]problem, good func([]problem) bool) [][]problem {
	var some [][]problem
	for _, b := range branches {
		if good(b) {
			some = append(some, b)
		}
	}
	if len(some) == 0 {
		return branches
	}
	return some
}

// wrongKind reports whether a branch's only problem is the type of the whole value.
func wrongKind(branch []problem, here []string) bool {
	p := branch[0]
	return len(branch) == 1 && len(p.types) > 0 && slices.Equal(p.at, here)
}

// wrongValue reports whether a value differs from a constant, such as the tag of a union.
func wrongValue(p problem) bool { return len(p.values) > 0 }

// common returns one problem with the types and values that all branches expect at the
// same place, and false if there is no such place.
func common(branches [][]problem) (problem, bool) {
	for _, p := range branches[0] {
		if joined, ok := joinAt(p, branches[1:]); ok {
			return joined, true
		}
	}
	return problem{}, false
}

func joinAt(p problem, branches [][]problem) (problem, bool) {
	if !p.expects() {
		return p, false
	}
	for _, b := range branches {
		i := slices.IndexFunc(b, func(q problem) bool { return q.expects() && slices.Equal(p.at, q.at) })
		if i < 0 {
			return p, false
		}
		p = p.join(b[i])
	}
	return p, true
}

// noneFits returns a problem whose hint lists the problems of the nearest alternative, the
// one with the fewest problems.
func (x *explainer) noneFits(here []string, branches, meant [][]problem) problem {
	near := slices.MinFunc(meant, func(a, b []problem) int { return len(a) - len(b) })
	var lines []string
	for _, f := range x.findings(slices.Clone(near)) {
		lines = append(lines, f.String())
	}
	return problem{
		at:   here,
		text: fmt.Sprintf("fits none of its %d alternatives", len(branches)),
		hint: "nearest alternative: " + strings.Join(lines[:min(len(lines), 3)], "; "),
	}
}
