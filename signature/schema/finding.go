package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Finding is one way in which a value violates a schema, described for the author of the
// value.
type Finding struct {
	// Path is the place in the value, in JavaScript notation: items[0].name. It is
	// empty for the whole value.
	Path string `json:"path"`
	// Message says what the schema requires and what the value is: must be an integer, not "ten".
	Message string `json:"message"`
	// Hint suggests a fix: did you mean limit? It is empty if no fix is likely.
	Hint string `json:"hint,omitempty"`

	more int // number of further problems, counted but not described
}

// Summary returns the first ten findings on one line.
func Summary(findings []Finding) string {
	const limit = 10
	var lines []string
	for _, f := range findings[:min(len(findings), limit)] {
		lines = append(lines, f.String())
	}
	if more := len(findings) - limit; more > 0 {
		if counted := findings[len(findings)-1].more; counted > 0 {
			more += counted - 1
		}
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "; ")
}

// String returns the finding as one line.
func (f Finding) String() string {
	subject := f.Path
	if subject == "" {
		subject = "the value"
	}
	if f.Hint == "" {
		return subject + " " + f.Message
	}
	return subject + " " + f.Message + " (" + f.Hint + ")"
}

// problem is a finding whose message is not composed yet, so that the problems of several
// alternatives can be joined.
type problem struct {
	at     []string // place
	types  []string // expected types, such as "an integer"
	values []string // expected values, as literals
	given  string   // describes the value found instead
	text   string   // the message, if types and values are empty
	hint   string
	more   int // if set, the problem only counts other problems
}

// expects reports whether the problem is about the type or the allowed values.
func (p problem) expects() bool { return len(p.types)+len(p.values) > 0 }

func (p problem) message() string {
	if !p.expects() {
		return p.text
	}
	wanted := slices.Clone(p.types)
	switch {
	case len(p.values) == 1:
		wanted = append(wanted, p.values[0])
	case len(p.values) > 1:
		wanted = append(wanted, "one of "+strings.Join(p.values, ", "))
	}
	return "must be " + alternatives(wanted) + ", not " + p.given
}

// join returns a problem with the expected types and values of both problems.
func (p problem) join(other problem) problem {
	p.types = union(p.types, other.types)
	p.values = union(p.values, other.values)
	p.hint = cmp.Or(p.hint, other.hint)
	return p
}

// findings sorts problems by place, composes their messages and removes duplicates.
func (x *explainer) findings(problems []problem) []Finding {
	slices.SortStableFunc(problems, func(a, b problem) int {
		return cmp.Or(slices.CompareFunc(a.at, b.at, jsonvalue.CompareTokens),
			cmp.Compare(a.message(), b.message()), cmp.Compare(a.hint, b.hint))
	})
	var all []Finding
	more := 0
	for _, p := range problems {
		if p.more > 0 {
			more += p.more
			continue
		}
		f := Finding{Path: jsonvalue.Path(x.root, p.at), Message: p.message(), Hint: p.hint}
		if len(all) == 0 || all[len(all)-1] != f {
			all = append(all, f)
		}
	}
	if more > 0 {
		all = append(all, Finding{Message: "has " + plural(more, "more problem"), more: more})
	}
	return all
}

// alternatives joins words: "a, b or c".
func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
