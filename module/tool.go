package module

import (
	"context"

	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/tools"
)

// Tool turns a module into a tool for another module's programs. The tool's arguments are the module's inputs, and its
// result is the module's output, as in [tools.Func]. The module's run has its own limits: while a program waits only
// for such tools, the time does not count against the program's limit (see [tools.Pause]). The run is in
// Trajectory.Runs of the run that calls the tool, and has the tool's name. Nil hints mean the zero [tools.Hints], with
// which calls to the tool count as effects; use Class: tools.Read for a module that has no tools with effects.
//
// For a module that has the tool, [Predictors] also yields the predictors of m, so that they are saved, loaded and
// optimized with those of the module, and [Clone] also copies m.
func Tool[In, Out any](name, description string, m Module[In, Out], h *tools.Hints) *tools.Tool {
	if checkModule(m) != nil {
		return tools.Func[In, Out](name, description, nil, h)
	}
	t := tools.Func(name, description, func(ctx context.Context, in In) (out Out, err error) {
		defer tools.Pause(ctx)()
		if m := lm.MeterOf(ctx); m != nil {
			ctx, err = m.Descend(ctx)
		}
		if err != nil {
			te := &tools.ToolError{Kind: tools.KindBudget, Message: err.Error()}
			return out, te.WithCause(err)
		}
		s := scopeOf(ctx)
		run := *s.copyOf(&m).(*Module[In, Out])
		s.tool = name
		r := runModule(s.in(ctx), run, in)
		if r.Err != nil {
			return out, r.Err
		}
		return r.Prediction.Output, nil
	}, h)
	t.Module = func() any { return &m }
	return t
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
