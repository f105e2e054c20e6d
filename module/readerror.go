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

// ProblemKind tells a reply that cannot be read from one with a value that is not allowed. It is a string.
type ProblemKind = replies.Kind

// The kinds of problems.
const (
	KindStructure  = replies.KindStructure  // there is no value, or it is ambiguous
	KindConstraint = replies.KindConstraint // there is a value of the right type, which breaks a rule
)
