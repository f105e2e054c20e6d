package module

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Compose calls f and records every module that f runs with its context. Use it to write the Run method of a module
// that is made of other modules. Then everything that they did, and what it cost, is recorded even if one of them
// fails:
//
//	func (a *Answering) Run(ctx context.Context, in Review) (*module.Prediction[Letter], error) {
//		return module.Compose(ctx, a, func(ctx context.Context) (Letter, error) {
//			verdict, err := a.Judge.Run(ctx, in)
//			…
//		})
//	}
//
// The argument m is the module itself. Events and the trajectory name the run after its type, and the runs
// within it after its fields, such as Judge. If m is a string, that is the name of the run. The runs are in
// Trajectory.Runs, in the order in which they began.
//
// The prediction is nil if f returns an error. Compose returns that error if no model was called, and otherwise an
// *[IncompleteError] that wraps it. If f panics, that error wraps a *[PanicError].
func Compose[Out any](
	ctx context.Context, m any, f func(context.Context) (Out, error),
) (pred *Prediction[Out], err error) {
	if ctx == nil {
		return nil, errNoContext
	}
	name, isName := m.(string)
	path := ""
	if !isName {
		if err := missing(m); err != nil {
			return nil, err
		}
		name, path = nameOf(m), scopeOf(ctx).pathOf(m)
		ctx = scopeOf(ctx).named(m, nil).in(ctx)
	}
	ctx, r := begin(ctx, name, path, nil)
	defer r.rescue(&err)
	if f == nil {
		return nil, errors.New("module: Compose got a nil function")
	}
	out, err := f(ctx)
	var raw json.RawMessage
	if err == nil {
		raw, err = schema.Marshal(out)
	}
	if err != nil {
		return nil, r.incomplete(readable("Run of "+name, err))
	}
	return answered(r, out, raw, "")
}

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
