package module

import (
	"fmt"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// ReadError says why a reply cannot be used. The adapters of this package return
// it, and an [IncompleteError] of a reply that could not be read wraps it.
type ReadError struct {
	// Problems is everything that is wrong, in the order of the fields; there is
	// at least one.
	Problems []ReadProblem
}

// ReadProblem is one thing that is wrong with a reply.
type ReadProblem struct {
	// Field is the output it is about, or "" if it is the reply as a whole.
	Field string
	// Kind says whether there is a value.
	Kind ProblemKind
	// Message is what is wrong, worded for the model.
	Message string
}

// ProblemKind tells a reply that cannot be read from one that says what is not
// allowed.
type ProblemKind string

// The kinds of problems.
const (
	// Structure: there is no value, or it is not certain which.
	Structure ProblemKind = "structure"
	// Constraint: there is a value of the right type, which breaks a rule.
	Constraint ProblemKind = "constraint"
)

// Error lists the problems, one a line.
func (e *ReadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// String returns the problem as one line.
func (p ReadProblem) String() string {
	switch {
	case p.Field == "":
		return p.Message
	case p.Kind == Constraint:
		return fmt.Sprintf("the field %q has a value that is not allowed: %s", p.Field, p.Message)
	default:
		return fmt.Sprintf("the field %q %s", p.Field, p.Message)
	}
}

// structural is the error of a value that was not found, or of a reply in which
// nothing was.
func structural(field, format string, args ...any) error {
	return &ReadError{[]ReadProblem{{field, Structure, fmt.Sprintf(format, args...)}}}
}

// notAllowed is the error of a value that breaks the rules of its field.
func notAllowed(field string, findings []schema.Finding) error {
	return &ReadError{[]ReadProblem{{field, Constraint, lines(findings)}}}
}

func lines(findings []schema.Finding) string {
	all := make([]string, len(findings))
	for i, f := range findings {
		all[i] = f.String()
	}
	return strings.Join(all, "; ")
}
