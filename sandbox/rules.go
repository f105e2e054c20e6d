package sandbox

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// KindPolicyViolation is the kind of a finding that [Rules] are the reason for.
const KindPolicyViolation Kind = "policy_violation"

// Rules is what the host wants of the source of every program. What breaks them
// is refused, all of it at once and before anything runs.
//
// Rules are about what the text says. They keep programs short, and their authors
// away from what the host does not want to see; they do not contain a program. A
// program that computes a name when it runs, as in o[parts.join("")] or
// Reflect.get(o, name), gets around them. What a program can do is decided by the
// sandbox and its tools.
type Rules struct {
	// Characters, Lines and Depth are how much of them the source may have; zero is
	// no rule. Depth is the depth of its syntax tree: a call within an argument within a
	// block is three deep, and more where there are brackets and operators between.
	Characters, Lines, Depth int

	// Names are forbidden as variables, as members and as the names of properties,
	// also where a constant text names the member: o["name"], o[`name`], o["na" + "me"],
	// or o[key] after const key = "name". They are not looked for in other texts, nor in
	// comments.
	Names []string

	// Patterns are forbidden wherever they match, comments included.
	Patterns []*regexp.Regexp

	// Modules are those that a program may import: its Compiler says which it does, in
	// Compiled.Imports. Nil is no rule, and an empty list allows none. A program without
	// a Compiler can import nothing. What a module imports itself is not judged.
	Modules []string
}

// validated returns a copy, or what is wrong with the rules.
func (r *Rules) validated() (*Rules, error) {
	if r == nil {
		return nil, nil
	}
	var errs []error
	if min(r.Characters, r.Lines, r.Depth) < 0 {
		errs = append(errs, errors.New("sandbox: a limit of the rules is negative; leave it zero for none"))
	}
	if slices.Contains(r.Names, "") {
		errs = append(errs, errors.New("sandbox: one of the names that the rules forbid is empty"))
	}
	if slices.Contains(r.Patterns, nil) {
		errs = append(errs, errors.New("sandbox: one of the patterns that the rules forbid is nil"))
	}
	clone := *r
	clone.Names, clone.Patterns = slices.Clone(r.Names), slices.Clone(r.Patterns)
	clone.Modules = slices.Clone(r.Modules)
	return &clone, errors.Join(errs...)
}

// forbids is the list of names that the engine looks for.
func (r *Rules) forbids() []string {
	if r == nil {
		return nil
	}
	return r.Names
}

// size judges what needs no parse, so that nobody parses what is too long.
func (r *Rules) size(source string) *Failure {
	if r == nil {
		return nil
	}
	var findings []Finding
	exceeds := func(most, have int, what string) {
		if most > 0 && have > most {
			findings = append(findings, Finding{
				Kind:    KindPolicyViolation,
				Message: fmt.Sprintf("the program has %d %s; %d are allowed", have, what, most),
				Hint:    "write a shorter one",
			})
		}
	}
	exceeds(r.Characters, utf8.RuneCountInString(source), "characters")
	exceeds(r.Lines, strings.Count(strings.TrimSuffix(source, "\n"), "\n")+1, "lines")
	if findings == nil {
		return nil
	}
	return refusal(findings)
}

// textual judges the text, and what the compiler says of it. It needs no parse, so
// that it also works where that fails.
func (h *host) textual() []Finding {
	if h.rules == nil {
		return nil
	}
	source := h.program.Source
	var findings []Finding
	add := func(at int, message, hint string) {
		if len(findings) < maxFindings {
			findings = append(findings, h.finding(KindPolicyViolation, message, hint, engine.At(source, at)))
		}
	}
	for _, pattern := range h.rules.Patterns {
		for _, m := range pattern.FindAllStringIndex(source, maxFindings) {
			add(m[0], fmt.Sprintf("%q is not allowed here", shorten(source[m[0]:m[1]], 60)), "do without it")
		}
	}
	for _, i := range h.imports {
		if h.rules.Modules != nil && !slices.Contains(h.rules.Modules, i.Module) && len(findings) < maxFindings {
			message := fmt.Sprintf("the module %q is not allowed", shorten(i.Module, 60))
			findings = append(findings, h.finding(KindPolicyViolation, message, "do without it", engine.Pos{Line: i.Line, Column: i.Column}))
		}
	}
	return findings
}

// forbidden words a name that the rules forbid.
func (h *host) forbidden(name engine.Name) Finding {
	return h.finding(KindPolicyViolation, name.Name+" is not allowed here", "do without it", name.Pos)
}

// deep judges how deep the source is nested.
func (h *host) deep(r engine.Report) []Finding {
	if h.rules == nil || h.rules.Depth == 0 || r.Depth <= h.rules.Depth {
		return nil
	}
	message := fmt.Sprintf("the program is nested %d deep; %d are allowed", r.Depth, h.rules.Depth)
	return one(h.finding(KindPolicyViolation, message, "take parts of it out into variables and functions", engine.Pos{}))
}
