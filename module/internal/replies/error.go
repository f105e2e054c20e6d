package replies

import (
	"fmt"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// Error says why a reply cannot be used.
type Error struct {
	Problems []Problem // in the order of the fields; at least one
}

// Problem is one reason why a reply cannot be used.
type Problem struct {
	Field   string // "" for the whole reply
	Kind    Kind
	Message string // worded for the model
}

// Kind distinguishes a reply that cannot be read from a reply with an invalid value.
type Kind string

// The kinds of problems.
const (
	KindStructure  Kind = "structure"  // the value is missing or ambiguous
	KindConstraint Kind = "constraint" // the value has the right type but violates a rule
)

// Error lists the problems, one on a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// String returns the problem as one line.
func (p Problem) String() string {
	switch {
	case p.Field == "":
		return p.Message
	case p.Kind == KindConstraint:
		return fmt.Sprintf("the field %q has a value that is not allowed: %s", p.Field, p.Message)
	default:
		return fmt.Sprintf("the field %q %s", p.Field, p.Message)
	}
}

// structural returns an error about a missing or ambiguous value.
func structural(field, format string, args ...any) error {
	return &Error{[]Problem{{field, KindStructure, fmt.Sprintf(format, args...)}}}
}

func lines(findings []schema.Finding) string {
	all := make([]string, len(findings))
	for i, f := range findings {
		all[i] = f.String()
	}
	return strings.Join(all, "; ")
}
