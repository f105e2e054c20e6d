package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Verify runs the program on the examples of its Script, without a fallback. The error joins those of the examples that
// the program does not answer as they say. It is for tests:
//
//	recorded, err := evaluate.Recorded(file)
//	…
//	err = program.Verify(tools.WithPolicies(ctx, recorded))
//
// Tools are called unless a policy in ctx replaces them.
func (p *Program[In, Out]) Verify(ctx context.Context) error {
	if p == nil || p.coder.name == "" {
		return notMade("Program")
	}
	if len(p.Script.Examples) == 0 {
		return errors.New("module: verify: the Script has no Examples")
	}
	alone := *p
	if alone.Predictor = p.Predictor.Clone(); alone.Predictor != nil {
		alone.Predictor.Model = nil
	}
	var errs []error
	for i, e := range p.Script.Examples {
		if err := alone.verify(ctx, e); err != nil {
			errs = append(errs, fmt.Errorf("module: verify example %d: %s", i+1, bare(err)))
		}
	}
	return errors.Join(errs...)
}

func (p *Program[In, Out]) verify(ctx context.Context, e Demo) error {
	inputs, err := json.Marshal(e.Inputs)
	if err != nil {
		return err
	}
	var in In
	if err := json.Unmarshal(inputs, &in); err != nil {
		return fmt.Errorf("the inputs: %w", err)
	}
	pred, err := p.Run(ctx, in)
	if err != nil {
		return err
	}
	want, err := json.Marshal(e.Outputs)
	if err != nil {
		return err
	}
	if got := pred.Trajectory.Answer(); !sameJSON(got, want) {
		return fmt.Errorf("the answer is %s instead of %s", shorten(string(got), maxReason), shorten(string(want), maxReason))
	}
	return nil
}

// sameJSON reports whether two texts have the same value.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
