package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Verify runs the program on its Script's examples, without a fallback. The error joins one error for each example that
// the program answers differently or not at all. If the program is rejected before it runs, there is only one error.
// Verify is for tests:
//
//	recorded, err := evaluate.Recorded(file)
//	…
//	err = program.Verify(tools.WithPolicies(ctx, recorded))
//
// Verify has no effects. Policies in ctx may answer calls. A call that no policy answers is made if its tool has the
// class Read, and otherwise is an error.
func (p *Program[In, Out]) Verify(ctx context.Context) error {
	switch {
	case p == nil || p.coder.name == "":
		return notMade("Program")
	case p.coder.err != nil:
		return p.coder.err
	case len(p.Script.Examples) == 0:
		return errors.New("module: verify: the Script has no Examples")
	}
	alone := *p
	if alone.Predictor = p.Predictor.Clone(); alone.Predictor != nil {
		alone.Predictor.Model = nil
	}
	ctx = tools.WithPolicies(ctx, onlyReads)
	var errs []error
	for i, e := range p.Script.Examples {
		err := alone.verify(ctx, e)
		if f, failed := errors.AsType[*sandbox.Failure](err); failed && !f.Ran() {
			return fmt.Errorf("module: verify: %s", bare(err)) // the same for every example
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("module: verify example %d: %s", i+1, bare(err)))
		}
	}
	return errors.Join(errs...)
}

// onlyReads is a policy that ends a run with an error if the run calls a tool that may have an effect.
func onlyReads(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		if c.Tool.Hints.Class != tools.Read {
			return nil, tools.Fatal(fmt.Errorf("%s was not called, since Verify must not have effects; answer the "+
				"call with a policy in the context, such as evaluate.Fakes or evaluate.Recorded", c.Tool.Path()))
		}
		return next.Call(ctx, c)
	})
}

func (p *Program[In, Out]) verify(ctx context.Context, e Demo) error {
	inputs, err := json.Marshal(e.Inputs)
	if err != nil {
		return err
	}
	var in In
	if err := schema.Unmarshal(inputs, &in); err != nil {
		return fmt.Errorf("decode the inputs: %w", err)
	}
	pred, err := p.Run(ctx, in)
	if err != nil {
		return err
	}
	outputs, err := json.Marshal(e.Outputs)
	if err != nil {
		return err
	}
	want, err := p.coder.signature.Decode(outputs)
	if err != nil {
		return fmt.Errorf("decode the outputs: %w", err)
	}
	right, err := json.Marshal(want)
	if err != nil {
		return err
	}
	given, err := json.Marshal(pred.Output)
	if err == nil && !canonical.Equal(given, right) {
		got := string(pred.Trajectory.Answer())
		err = fmt.Errorf("the answer is %s instead of %s", shorten(got, maxReason), shorten(string(outputs), maxReason))
	}
	return err
}
