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

// Problem is one thing that is wrong with a reply.
type Problem struct {
	Field   string // "" if it is the reply as a whole
	Kind    Kind
	Message string // worded for the model
}

// Kind tells a reply that cannot be read from one with a value that is not allowed.
type Kind string

// The kinds of problems.
const (
	KindStructure  Kind = "structure"  // there is no value, or it is not certain which
	KindConstraint Kind = "constraint" // there is a value of the right type that breaks a rule
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

// structural is the error of a value that was not found, or of a reply without one.
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
