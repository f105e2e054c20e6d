package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// NewScript returns the last program of an Agent's recorded run, which gave the answer, as a Script for the folder of
// [Options].Programs. The Script's instructions, which describe the program to models, are the task.
//
// Each input has a name and a JSON string or number. NewScript replaces every string or number in the program that has
// this value by the input. Parts of strings, templates and names of properties stay as they are. It is an error if the
// program does not have the value, or uses the name for something else.
//
// NewScript checks the program against the tools in set, as [WithPrograms] does. It runs nothing.
func NewScript(
	ctx context.Context, run module.Trajectory, task string, inputs signature.Values, set *tools.Set,
	box module.Sandbox,
) (module.Script, error) {
	s, err := newScript(ctx, run, task, inputs, set, box)
	if err != nil {
		return module.Script{}, fmt.Errorf("agent: the script: %w", err)
	}
	return s, nil
}

func newScript(
	ctx context.Context, run module.Trajectory, task string, inputs signature.Values, set *tools.Set,
	box module.Sandbox,
) (s module.Script, err error) {
	if len(run.Steps) == 0 {
		return s, errors.New("the run has no steps; record another run")
	}
	last := run.Steps[len(run.Steps)-1]
	if last.Code == "" || last.Answer == nil || last.Outcome == nil || last.Outcome.Failure != nil || last.Extracted {
		return s, errors.New("the last program of the run did not give its answer; choose a run that has an answer")
	}
	answer, err := signature.New[struct{}, Answer](task)
	if err != nil {
		return s, err
	}
	var fields []signature.Field
	for _, in := range inputs {
		kind, err := kindOf(in.JSON)
		if err != nil || !jsonvalue.IsIdentifier(in.Name) {
			return s, fmt.Errorf("the input %q: %w", in.Name, cmp.Or(err, errors.New("the name is not an identifier")))
		}
		field, err := signature.ParseField(in.Name + ": " + kind)
		if err != nil {
			return s, err
		}
		fields = append(fields, field)
	}
	spec, err := signature.NewSpec(task, fields, answer.Spec().Outputs())
	if err != nil {
		return s, err
	}
	sig, err := signature.Typed[signature.Values, signature.Values](spec)
	if err != nil {
		return s, err
	}
	if s.Code, err = withInputs(last.Code, inputs); err != nil {
		return s, err
	}
	s.From = "agent.NewScript: a run of " + run.Began.UTC().Format("2006-01-02 15:04")
	p := module.NewProgram(sig, s, box, set, nil)
	return p.Script, p.Check(ctx)
}

// kindOf returns the type of a constant in the notation of [signature.ParseField].
func kindOf(constant json.RawMessage) (string, error) {
	var v any
	if err := json.Unmarshal(constant, &v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return "str", nil
	case float64:
		if v == math.Trunc(v) {
			return "int", nil
		}
		return "float", nil
	}
	return "", fmt.Errorf("the constant %s is neither a string nor a number", constant)
}
