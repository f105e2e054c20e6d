// Package report turns a trajectory, an evaluation or an optimization into an HTML file that a person can read:
//
//	pred, err := m.Run(ctx, question)
//	...
//	err = report.Write(file, pred.Trajectory, &report.Options{Inputs: question})
//
// The file needs no other file, no network and no script. It can be opened from disk, sent by mail, and kept as an
// artifact of a build. It follows the reader's light or dark theme, and can be read on a phone and with the keyboard.
//
// A report of a run shows the question and the answer; a timeline of model calls, programs and tool calls; each program
// with its findings, its console, its calls and their results; the whole prompt of each step; and the usage by model. If
// the run failed, pass the Trajectory of the module.IncompleteError.
//
// # Untrusted text
//
// Everything in a trajectory may come from an attacker: a document that a tool returned, or a reply of a model that has
// read it. All of it is escaped for its place in the page, and the page's content policy permits no script, no request
// and no form. Characters that are invisible or change the direction of text are shown as their code points.
//
// # Secrets
//
// A report contains the prompts, the arguments and the results, so it is as confidential as they are. Tokens of
// well-known services, private keys and passwords in URLs are replaced by "[redacted]"; Options.Secrets may replace
// more. Long values are cut, and their size is shown.
package report
