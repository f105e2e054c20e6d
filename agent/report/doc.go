// Package report turns a trajectory, an evaluation or an optimization into an HTML file that a person can read:
//
//	pred, err := m.Run(ctx, question)
//	...
//	err = report.Write(file, pred.Trajectory, &report.Options{Inputs: question})
//
// The file needs no other file, no network and no script. If the run failed, pass the Trajectory of the
// module.IncompleteError.
//
// Everything in a trajectory may come from an attacker. All text is escaped for its place in the page, and the page's
// content policy permits no script, no request and no form. Characters that are invisible or change the direction of
// text are shown as their code points. Long values are cut, and their size is shown.
//
// A report is as confidential as the prompts, arguments and results in it. Tokens of well-known services, private keys
// and passwords in URLs are replaced by "[redacted]"; Options.Secrets may replace more.
package report
