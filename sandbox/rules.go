package sandbox

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Rules restrict the source of every program. A program that violates them is rejected before it runs, with all
// violations at once.
//
// Rules are about the text. They keep programs short and free of constructs that the host
// does not want, but they do not confine a program: a program can compute a name when it
// runs, as in o[parts.join("")] or Reflect.get(o, name). The sandbox and
// its tools decide what a program can do.
type Rules struct {
	// Characters and Lines limit the size of the source. Zero means no limit.
	Characters, Lines int

	// Names must not occur as variables, members or property names, even if a constant string names the member:
	// o["name"], o[`name`], o["na" + "me"], or o[key] after const key = "name". They may occur in other strings and in
	// comments.
	Names []string

	// Patterns must not match anywhere in the source, including comments.
	Patterns []*regexp.Regexp
}

// validated returns a copy of the rules, or an error if they are invalid.
func (r *Rules) validated() (*Rules, error) {
	if r == nil {
		return nil, nil
	}
	var errs []error
	if min(r.Characters, r.Lines) < 0 {
		errs = append(errs, errors.New("sandbox: Rules.Characters or Rules.Lines is negative; use zero for no limit"))
	}
	if slices.Contains(r.Names, "") {
		errs = append(errs, errors.New("sandbox: Rules.Names contains an empty name"))
	}
	if slices.Contains(r.Patterns, nil) {
		errs = append(errs, errors.New("sandbox: Rules.Patterns contains a nil pattern"))
	}
	clone := *r
	clone.Names, clone.Patterns = slices.Clone(r.Names), slices.Clone(r.Patterns)
	return &clone, errors.Join(errs...)
}

// names returns the forbidden names, which the engine looks for.
func (r *Rules) names() []string {
	if r == nil {
		return nil
	}
	return r.Names
}

// fingerprint identifies the rules in a session's record.
func (r *Rules) fingerprint() string {
	if r == nil {
		return "no rules"
	}
	text, err := json.Marshal(r) // a pattern marshals as its source
	if err != nil {
		return "rules with the error " + err.Error()
	}
	return fmt.Sprintf("rules %.8x", sha256.Sum256(text))
}

// tooLong returns the failure for a source that exceeds limit or the rules' limits, or nil.
func (r *Rules) tooLong(source string, limit int) *Failure {
	var findings []Finding
	check := func(kind Kind, size, limit int, unit string) {
		if size > limit {
			message := fmt.Sprintf("the program has %d %s; %d are allowed", size, unit, limit)
			findings = append(findings, Finding{Kind: kind, Message: message, Hint: "write a shorter program"})
		}
	}
	check(kindSourceLimit, len(source), limit, "bytes")
	if r != nil && findings == nil {
		if r.Characters > 0 {
			check(kindPolicyViolation, utf8.RuneCountInString(source), r.Characters, "characters")
		}
		if r.Lines > 0 {
			check(kindPolicyViolation, strings.Count(strings.TrimSuffix(source, "\n"), "\n")+1, r.Lines, "lines")
		}
	}
	if findings == nil {
		return nil
	}
	return refusal(findings)
}

// violations returns the violations of Rules.Patterns. It finds them even if the program cannot be parsed.
func (h *host) violations() (findings []Finding) {
	if h.rules == nil {
		return nil
	}
	source := h.program.Source
	for _, pattern := range h.rules.Patterns {
		for _, m := range pattern.FindAllStringIndex(source, maxFindings-len(findings)) {
			message := fmt.Sprintf("%q is not allowed here", display.Cut(source[m[0]:m[1]], 60))
			at := engine.NewLineTable(source).Pos(m[0])
			findings = append(findings, h.finding(kindPolicyViolation, message, "do without it", at))
		}
	}
	return findings
}

// forbidden reports a name that the rules forbid.
func (h *host) forbidden(name engine.Name) Finding {
	return h.finding(kindPolicyViolation, name.Name+" is not allowed here", "do without it", name.Pos)
}
