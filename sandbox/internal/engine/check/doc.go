// Package check finds what must fail in a program before it runs: names that do not
// exist where they are used, variables that are read too early, constants that are
// assigned to, tools that do not exist, and the arguments of calls as far as the source
// tells them.
//
// It reads goja's syntax tree, which has the place of every name, and knows nothing of
// schemas: the caller judges the [Report]. [Survey] looks at a program by itself, once;
// [Outline.Report] compares it with what a run binds.
package check
