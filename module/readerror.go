package module

import (
	"errors"
	"strings"

	"github.com/writ-go/writ/module/internal/replies"
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
	KindStructure ProblemKind = "structure"
	// Constraint: there is a value of the right type, which breaks a rule.
	KindConstraint ProblemKind = "constraint"
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
	return replies.Problem{Field: p.Field, Kind: replies.Kind(p.Kind), Message: p.Message}.String()
}

// readError is what the readers found wrong, as it is shown to callers.
func readError(err error) error {
	wrong, ok := errors.AsType[*replies.Error](err)
	if !ok {
		return err
	}
	problems := make([]ReadProblem, len(wrong.Problems))
	for i, p := range wrong.Problems {
		problems[i] = ReadProblem{p.Field, ProblemKind(p.Kind), p.Message}
	}
	return &ReadError{problems}
}
