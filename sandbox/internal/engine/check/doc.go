// Package check parses a program before it runs, and finds code that is certain to fail: undeclared names, variables
// that are read too early, assignments to constants, and calls to tools that do not exist. It also finds call
// arguments, as far as the source shows them.
//
// Package check works on goja's syntax tree, which has the position of every name. It does not know the tools' schemas:
// the host judges the [engine.Report]. [Parse] analyzes a program without knowing its globals, and [Outline.Report]
// compares the result with the globals of a run.
package check
