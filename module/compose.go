package module

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/writ-go/writ/tools"
)

// Compose runs f and records every module that f runs with the context passed to
// f. Use it to write Run of a module made of others: nothing that they did and cost
// is lost, even if the second fails:
//
//	func (a *Answering) Run(ctx context.Context, in Review) (*module.Prediction[Letter], error) {
//		return module.Compose(ctx, a, func(ctx context.Context) (Letter, error) {
//			verdict, err := a.Judge.Run(ctx, in)
//			…
//		})
//	}
//
// The first argument after ctx is the module itself. Events and the trajectory call the
// run by the name of its type, and the runs within it by the fields of its modules, such
// as Judge. A string instead is the name of the run.
//
// The runs are the Trajectory's Runs, in the order in which they began.
//
// The prediction is nil if f returns an error: that error, if nothing was asked,
// else an *[IncompleteError] that wraps it. A panic of f is a *[PanicError].
func Compose[Out any](ctx context.Context, m any, f func(context.Context) (Out, error)) (pred *Prediction[Out], err error) {
	if ctx == nil {
		return nil, errNoContext
	}
	name, isName := m.(string)
	path := ""
	if !isName && missing(m) != nil {
		return nil, missing(m)
	} else if !isName {
		name = nameOf(m)
		path = scopeOf(ctx).pathOf(m)
		ctx = scopeOf(ctx).named(m, nil).in(ctx)
	}
	ctx, r := begin(ctx, name, path, nil)
	c := composite{r}
	defer c.rescue(&err)
	if f == nil {
		return nil, errors.New("module: there is nothing to compose; pass a function")
	}
	out, err := f(ctx)
	if err == nil {
		err = c.answered(out)
	}
	if err != nil {
		return nil, c.incomplete(sound("Run of "+name, err))
	}
	return &Prediction[Out]{Output: out, Trajectory: c.trajectory()}, nil
}

// composite is a run that is made of others.
type composite struct{ *recorder }

func (c composite) answered(out any) error {
	raw, err := json.Marshal(out)
	if err != nil {
		return err
	}
	c.emit(Answered{Origin: c.at(0), Output: raw})
	return c.fault()
}

// incomplete ends the run without an answer.
func (c composite) incomplete(err error) error {
	c.emit(Failed{c.at(0), err})
	return withAll(err, c.trajectory())
}

// rescue, when deferred, makes an error of a panic, with what was done until then.
func (c composite) rescue(err *error) {
	if p := recover(); p != nil {
		*err = c.incomplete(newPanic("Run of "+c.origin.Module, p))
	}
}

// Tool makes a tool of a module, for the programs of another one: its arguments are
// the inputs, and its result is the output, as [tools.Func] has it. What the module
// does is part of the run that calls it, in its Trajectory's Runs. Nil hints are the
// zero [tools.Hints], which make it an effect; say Class: tools.Read of a module that has
// only tools that read, or none.
func Tool[In, Out any](name, description string, m Module[In, Out], h *tools.Hints) *tools.Tool {
	if missing(m) != nil {
		return tools.Func[In, Out](name, description, nil, h)
	}
	return tools.Func(name, description, func(ctx context.Context, in In) (out Out, err error) {
		r := resultFrom(ctx, m, in)
		if r.Err != nil {
			return out, r.Err
		}
		return r.Prediction.Output, nil
	}, h)
}
