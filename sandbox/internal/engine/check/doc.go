// Package check parses a program, and finds what must fail in it before it runs: undeclared
// names, variables that are read too early, assignments to constants, tools that do not
// exist, and the arguments of calls, as far as the source shows them.
//
// It works on goja's syntax tree, which has the position of every name. It knows nothing
// about schemas: the host judges the [engine.Report]. [Parse] analyzes a program by itself,
// and [Outline.Report] compares the result with what a run binds.
package check
