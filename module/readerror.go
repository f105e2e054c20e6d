package module

import "github.com/writ-go/writ/module/internal/replies"

// ReadError says why a reply cannot be used. The adapters of this package return it, and the [IncompleteError] of
// a run whose reply could not be read wraps it. It has
//
//	Problems []ReadProblem // at least one, in the order of the fields
//
//	func (e *ReadError) Error() string // the problems, one per line
type ReadError = replies.Error

// ReadProblem is one problem of a reply. It has
//
//	Field   string      // the output it is about, or "" for the whole reply
//	Kind    ProblemKind
//	Message string      // what is wrong, worded for the model
//
//	func (p ReadProblem) String() string // the problem on one line
type ReadProblem = replies.Problem

// ProblemKind distinguishes a reply that cannot be read from a reply with an invalid value. It is a string.
type ProblemKind = replies.Kind

// The kinds of problems.
const (
	KindStructure  = replies.KindStructure  // the value is missing or ambiguous
	KindConstraint = replies.KindConstraint // the value has the right type but violates a rule
)
