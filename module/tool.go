package module

import (
	"context"
	"fmt"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Tool turns a module into a tool for another module's programs, which makes it a sub-agent. The tool's arguments are
// the module's inputs, and its result is the module's output, as in [tools.Func]. The module's run has its own limits:
// while a program waits only for such tools, the time does not count against the program's limit (see [tools.Pause]).
// The run is in Trajectory.Runs of the run that calls the tool, and has the tool's name. Nil hints mean the zero
// [tools.Hints], with which calls to the tool count as effects; use Class: tools.Read for a module that has no tools
// with effects.
//
// If the run fails after effects, the call has failed, and the program may repeat it. The next run goes on with the
// journal of the earlier one: it does not repeat what is done, nor what is uncertain unless its program says so. If the
// outcome of an effect is unknown, so is that of the call.
//
// Modules may call each other as tools at most 8 deep. A deeper call gets an error.
//
// For a module that has the tool, [Predictors] also yields the predictors of m, so that they are saved, loaded and
// optimized with those of the module, and [Clone] also copies m.
func Tool[In, Out any](name, description string, m Module[In, Out], h *tools.Hints) *tools.Tool {
	if checkModule(m) != nil {
		return tools.Func[In, Out](name, description, nil, h)
	}
	t := tools.Func(name, description, func(ctx context.Context, in In) (out Out, err error) {
		defer tools.Pause(ctx)()
		if err := checkDepth(ctx); err != nil {
			return out, err
		}
		call := effect.Of(ctx)
		if w := call.Within; w != nil { // an abandoned try may still run
			select {
			case w.Busy <- struct{}{}:
				defer func() { <-w.Busy }()
			case <-ctx.Done():
				return out, ctx.Err()
			}
		}
		s := scopeOf(ctx)
		run := *s.copyOf(&m).(*Module[In, Out])
		s.tool = name
		r := runModule(s.in(ctx), run, in)
		if r.Err != nil {
			return out, failedCall(ctx, call, r.Err)
		}
		return r.Prediction.Output, nil
	}, h)
	t.Module = func() any { return &m }
	return t
}

// maxDepth is how deep modules may call each other as tools.
const maxDepth = 8

// checkDepth refuses a call that is too deep, or deeper than a budget of the context allows.
func checkDepth(ctx context.Context) error {
	if len(effect.Agents(ctx)) > maxDepth {
		return &tools.ToolError{Kind: tools.KindLimit, Message: fmt.Sprintf(
			"agents may call each other at most %d deep, and this call is deeper; do the work without it", maxDepth)}
	}
	if m := lm.MeterOf(ctx); m != nil {
		if err := m.Descend(ctx); err != nil {
			te := &tools.ToolError{Kind: tools.KindBudget, Message: err.Error()}
			return te.WithCause(err)
		}
	}
	return nil
}

// failedCall returns the error of a call whose module's run has ended with err. If the run has ended by itself, and the
// outcome of all its calls is known, the call has failed: its repetition finds the calls in their journals.
func failedCall(ctx context.Context, call effect.ID, err error) error {
	part := incompleteIn(err)
	if part == nil || call.Within == nil || call.Within.Lost.Load() || ctx.Err() != nil || tools.IsFatal(err) {
		return err
	}
	for e := range part.Trajectory.AllCalls() {
		if e.Class != tools.Read && (e.State == journal.StateUnknown || e.State == dispatch.StateDispatched) {
			return err
		}
	}
	return &dispatch.RecordedError{Err: err}
}

// copyOf returns a pointer to the module that a tool must run. Its argument is what the tool's Module function
// returned. If the current run's predictor has a copy of that module, copyOf returns the copy.
func (s scope) copyOf(module any) any {
	if s.asks != nil {
		for _, b := range s.asks.set.Bindings() {
			if b.Module != nil && b.Module() == module {
				return s.asks.inside.Tools[b.Path()]
			}
		}
	}
	return module
}
