package module

import (
	"context"
	"errors"
	"fmt"

	"github.com/writ-go/writ/sandbox"
)

// notebook runs the programs of one run in a session, so that they see each
// other's variables. It implements [Sandbox].
type notebook struct {
	box     *sandbox.Sandbox
	calls   *subCalls
	free    map[string]int   // calls that do not count as those of tools
	session *sandbox.Session // nil before the first program, and when it was lost
}

// Limits tells those of the sandbox.
func (n *notebook) Limits() sandbox.Limits { return n.box.Limits() }

// Ready tells whether the sandbox is.
func (n *notebook) Ready() error { return n.box.Ready() }

// Run runs the next program. The inputs are the session's: they go there once.
func (n *notebook) Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error) {
	if n.session == nil {
		n.session = n.box.NewSession(&sandbox.SessionOptions{Inputs: p.Inputs})
	}
	p.Inputs, p.Uncounted = nil, n.free
	out, err := n.session.Run(n.calls.beginProgram(ctx), p)
	n.calls.endProgram(err == nil && out.Failure == nil)
	if errors.Is(err, sandbox.ErrSessionFull) || errors.Is(err, sandbox.ErrSessionLost) {
		n.session = nil
		n.calls.lost()
		return forgotten(err), nil
	}
	return out, err
}

// forgotten is the outcome of a program that was not run, as the variables are
// gone that it counts on.
func forgotten(err error) *sandbox.Outcome {
	return &sandbox.Outcome{Failure: &sandbox.Failure{Finding: sandbox.Finding{
		Kind:    "session_lost",
		Message: fmt.Sprintf("it was not run, for the variables of earlier programs are gone: %v", err),
		Hint:    "begin again with the inputs; prompts that were answered are answered again, for nothing",
	}}}
}
