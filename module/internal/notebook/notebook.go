// Package notebook runs programs in a session that is replaced when it fails.
package notebook

import (
	"context"
	"errors"
	"sync"

	"github.com/writ-go/writ/sandbox"
)

// ErrForgotten is returned if the sandbox has lost the variables of earlier programs.
var ErrForgotten = errors.New("the variables of earlier programs are gone")

// Notebook runs programs in a session, so that they share variables. If the session is lost, the next program starts
// another one. It implements module.Sandbox.
type Notebook struct {
	box *sandbox.Sandbox

	mu      sync.Mutex
	session *sandbox.Session // nil before the first program, and after the session was lost
	lost    bool             // an earlier session's variables are gone
}

// New returns a notebook without a session.
func New(box *sandbox.Sandbox) *Notebook { return &Notebook{box: box} }

// Limits returns the sandbox's limits.
func (n *Notebook) Limits() sandbox.Limits { return n.box.Limits() }

// Ready returns an error if no program can be run.
func (n *Notebook) Ready() error { return n.box.Ready() }

// Check checks a program by itself, without earlier programs' variables.
func (n *Notebook) Check(ctx context.Context, p sandbox.Program) (sandbox.CheckResult, error) {
	return n.box.Check(ctx, p)
}

// Run runs the next program.
func (n *Notebook) Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error) {
	out, _, err := n.RunIn(ctx, p, nil)
	return out, err
}

// RunIn runs the next program. If there is no session yet, RunIn starts one with the inputs. If the session is lost,
// the outcome says that the program was not run.
func (n *Notebook) RunIn(
	ctx context.Context, p sandbox.Program, inputs map[string]any,
) (out *sandbox.Outcome, lost bool, err error) {
	n.mu.Lock()
	if n.session == nil {
		n.session, n.lost = n.box.NewSession(inputs), false
	}
	session := n.session
	n.mu.Unlock()
	out, err = session.Run(ctx, p)
	if isLost(err) {
		n.set(nil, true)
		return notRun(err), true, nil
	}
	return out, false, err
}

// Variables lists the session's variables. It returns [ErrForgotten] if they were lost.
func (n *Notebook) Variables(ctx context.Context) ([]sandbox.Variable, error) {
	n.mu.Lock()
	session, lost := n.session, n.lost
	n.mu.Unlock()
	switch {
	case lost:
		return nil, ErrForgotten
	case session == nil:
		return nil, nil
	}
	list, err := session.Variables(ctx)
	if isLost(err) {
		n.set(nil, true)
		return nil, ErrForgotten
	}
	return list, err
}

// set replaces the session. Nil means that the next program starts a new one.
func (n *Notebook) set(s *sandbox.Session, lost bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.session, n.lost = s, lost
}

// Record returns the session's record. Before the first program it returns nil.
func (n *Notebook) Record() ([]byte, error) {
	n.mu.Lock()
	session := n.session
	n.mu.Unlock()
	if session == nil {
		return nil, nil
	}
	return session.AppendRecord(nil, 0)
}

// Restore continues a record's session. If that fails, Variables returns [ErrForgotten].
func (n *Notebook) Restore(record []byte) error {
	if len(record) == 0 {
		n.set(nil, false)
		return nil
	}
	session, _, err := n.box.RestoreSession(record)
	n.set(session, err != nil)
	return err
}

func isLost(err error) bool {
	return errors.Is(err, sandbox.ErrSessionFull) || errors.Is(err, sandbox.ErrSessionLost)
}

// notRun returns the outcome for a program that was not run because earlier programs' variables are gone.
func notRun(err error) *sandbox.Outcome {
	f := sandbox.Finding{
		Kind: "session_lost", Message: "the variables of earlier programs are gone", Hint: "load again what you need",
	}
	if errors.Is(err, sandbox.ErrSessionFull) {
		f.Message = "there is no more room, so " + f.Message
	}
	return &sandbox.Outcome{Failure: &sandbox.Failure{Finding: f, Findings: []sandbox.Finding{f}}}
}
