package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Prediction is a module's answer.
type Prediction[Out any] struct {
	// Output is the answer. It is valid against the signature.
	Output Out `json:"output"`

	// Trajectory is how the module found the answer.
	Trajectory Trajectory `json:"trajectory"`
}

// Evidence returns the facts that contradict the answer, including those from the runs that led to it: see
// [Trajectory]. A metric or a caller may reject an answer that has evidence against it.
func (p *Prediction[Out]) Evidence() []sandbox.Finding {
	if p == nil {
		return nil
	}
	return p.Trajectory.evidence()
}

func (t Trajectory) evidence() []sandbox.Finding {
	all := slices.Clone(t.Evidence)
	for i, run := range t.Runs {
		if t.Chosen == 0 || t.Chosen == i+1 {
			all = append(all, run.evidence()...)
		}
	}
	return all
}

// TrajectoryOf returns what a run did, whether or not it found an answer: p's trajectory or, if p is nil, the one in
// err. It returns a Trajectory that has only Err if err comes from before the first model call. P and err are what Run
// returned:
//
//	pred, err := m.Run(ctx, in)
//	fmt.Print(pred.TrajectoryOf(err))
func (p *Prediction[Out]) TrajectoryOf(err error) Trajectory {
	if p != nil {
		return p.Trajectory
	}
	if part := incompleteIn(err); part != nil {
		return part.Trajectory
	}
	return Trajectory{Err: err}
}

// String returns the answer as JSON, the evidence against it, and the usage, for people to read.
func (p *Prediction[Out]) String() string {
	if p == nil {
		return "no prediction"
	}
	answer, err := json.Marshal(p.Output)
	if err != nil {
		answer = fmt.Append(nil, p.Output)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", answer)
	writeEvidence(&b, "", p.Evidence())
	p.Trajectory.writeUsage(&b)
	return display.Text(b.String())
}

// LogValue implements [slog.LogValuer] with the summary of the trajectory.
func (p *Prediction[Out]) LogValue() slog.Value {
	if p == nil {
		return slog.Value{}
	}
	return p.Trajectory.LogValue()
}

// ErrMaxIters is the reason in an [IncompleteError] if a run has used up its steps. The IncompleteError's message says
// how the last step ended. To allow more steps, raise Options.MaxIters.
var ErrMaxIters = errors.New("the steps are used up")

// ErrNoAnswer is the reason in an [IncompleteError] if a reply cannot be read or violates the signature, even after the
// model was told why, if a reply is truncated before its answer begins, or if the program fails in a [Program] without
// a model. The IncompleteError also wraps the error from the adapter or the program.
var ErrNoAnswer = errors.New("the model's reply cannot be used")

// IncompleteError reports that a module did not find an answer. Run of every module returns it for all errors after
// the first model call. The trajectory holds what was done, because tool calls may have had effects and model calls
// cost money.
type IncompleteError struct {
	// Err is the reason: [ErrMaxIters], [ErrNoAnswer], an error from the context, the model or the sandbox, a tool's
	// fatal error, a *[journal.UnknownError] or a *[models.PanicError]. Its text is part of the trajectory's JSON.
	Err error `json:"-"`

	// Trajectory is everything that was done.
	Trajectory Trajectory `json:"trajectory"`

	batch bool // Err is about several runs; some of them may have answers
}

// Error returns the reason and the number of steps or, for a module that only runs other modules, the number of runs. A
// request without a reply does not count as a step.
func (e *IncompleteError) Error() string {
	if e == nil {
		return "module: no answer"
	}
	why := display.Text(shorten(bare(e.Err), maxReason))
	if e.batch {
		return "module: " + why
	}
	steps, runs := len(e.Trajectory.Steps), len(e.Trajectory.Runs)
	if steps > 0 && !e.Trajectory.last().replied() && !errors.Is(e.Err, ErrNoAnswer) {
		steps--
	}
	switch {
	case steps > 0:
		return fmt.Sprintf("module: no answer after %s: %s", plural(steps, "step"), why)
	case runs == 0 || len(e.Trajectory.Steps) > 0:
		return "module: no answer: " + why
	}
	if last, all := strings.CutPrefix(why, plural(runs, "attempt")+" failed; "); all {
		return fmt.Sprintf("module: no answer after %s; %s", plural(runs, "attempt"), last)
	}
	return fmt.Sprintf("module: no answer after %s: %s", plural(runs, "run"), why)
}

// maxReason is the maximum size of a reason in an error message, in bytes, since a tool's error may be long.
const maxReason = 2000

// Unwrap returns Err.
func (e *IncompleteError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// MayHaveActed reports whether the run had effects, or has calls whose outcome is unknown. Calls whose tools reported
// an error do not count, although they may have taken effect: in Trajectory.Calls, their state is journal.StateFailed.
// If MayHaveActed returns true for the error of a tool that runs the module, the tool call's effect counts as unknown,
// and otherwise as failed: see [tools.Handler]. See [Tool] for a tool that knows more.
func (e *IncompleteError) MayHaveActed() bool { return e != nil && e.Trajectory.acted() }

// acted reports whether t has calls that had, or may have had, effects.
func (t *Trajectory) acted() bool {
	for e := range t.AllCalls() {
		switch e.State {
		case journal.StateOK, journal.StateUnknown, dispatch.StateDispatched:
			if e.Class != tools.Read {
				return true
			}
		}
	}
	return false
}

// incompleteIn returns the IncompleteError that err wraps, or nil.
func incompleteIn(err error) *IncompleteError {
	part, _ := errors.AsType[*IncompleteError](err)
	return part
}

// reasonOf returns the reason of an IncompleteError, or err.
func reasonOf(err error) error {
	if part := incompleteIn(err); part != nil {
		return part.Err
	}
	return err
}
