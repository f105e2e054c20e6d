package module

import (
	"context"

	"github.com/writ-go/writ/tools"
)

// Tool turns a module into a tool for the programs of another module. The tool's arguments are the inputs and its
// result is the output, as in [tools.Func]. The run has limits of its own: while a program waits for such tools only,
// its clocks stand still (see [tools.Pause]). The run is in Trajectory.Runs of the run that calls the tool. Nil hints
// mean the zero [tools.Hints], with which the tool counts as an effect; use Class: tools.Read for a module that has
// no tools with effects.
//
// [Predictors] finds the predictors of m in a module that has the tool, so that they can be saved, loaded and optimized
// with it, and [Clone] copies m with it.
func Tool[In, Out any](name, description string, m Module[In, Out], h *tools.Hints) *tools.Tool {
	if missing(m) != nil {
		return tools.Func[In, Out](name, description, nil, h)
	}
	t := tools.Func(name, description, func(ctx context.Context, in In) (out Out, err error) {
		defer tools.Pause(ctx)()
		r := runModule(ctx, *scopeOf(ctx).copyOf(&m).(*Module[In, Out]), in)
		if r.Err != nil {
			return out, r.Err
		}
		return r.Prediction.Output, nil
	}, h)
	t.Module = func() any { return &m }
	return t
}

// copyOf returns what Tool.Module of a tool returns, or the copy of it that belongs to the predictor whose run calls
// the tool.
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
