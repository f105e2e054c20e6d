package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Variable describes a variable in a [Session].
type Variable struct {
	Name string
	text string
}

// String describes the variable to a person or a model:
//
//	orders: array of 812 items {id, customer, total}
func (v Variable) String() string { return v.text }

// units are the nouns for the count of a variable, by its kind.
var units = map[string]string{"array": "item", "object": "key", "text": "character", "Map": "item", "Set": "item"}

func describe(v engine.Variable) string {
	text := v.Name + ": " + v.Kind
	if unit := units[v.Kind]; unit != "" && (v.Kind != "object" || v.Count > 0) {
		text += fmt.Sprintf(" of %d %s", v.Count, unit)
		if v.Count != 1 {
			text += "s"
		}
	}
	if len(v.Keys) > 0 {
		text += " {" + strings.Join(v.Keys, ", ") + "}"
	}
	return text
}

// Variables lists the session's variables in the order in which they were declared, at most the newest 1000. It runs no
// new program and no code of values, such as getters. If the session's VM is gone, Variables rebuilds it, as
// [Session.Run] does. It returns the same errors as Run.
func (s *Session) Variables(ctx context.Context) ([]Variable, error) {
	step, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { <-s.turn }()
	if len(step.log) == 0 {
		return nil, nil
	}
	step.list = true
	out, err := s.box.run(ctx, Program{}, true, step)
	switch {
	case err != nil:
		return nil, err
	case out.Failure != nil && out.Failure.Ran(): // a limit was exceeded; it does not matter if Rules reject ""
		return nil, fmt.Errorf("sandbox: list the session's variables: %w", out.Failure)
	}
	return validVariables(step.variables), nil
}

// validVariables converts a worker's variable list. It removes entries that no honest worker could report.
func validVariables(list []engine.Variable) []Variable {
	var valid []Variable
	for _, v := range list[:min(len(list), engine.MaxVariables)] {
		isName := len(v.Name) <= engine.MaxName && jsonvalue.IsIdentifier(v.Name)
		if !isName || !slices.Contains(engine.Kinds, v.Kind) || v.Count < 0 {
			continue
		}
		v.Keys = slices.DeleteFunc(v.Keys[:min(len(v.Keys), engine.MaxKeys)], func(key string) bool {
			return len(key) > engine.MaxName || !jsonvalue.IsIdentifier(key)
		})
		valid = append(valid, Variable{v.Name, describe(v)})
	}
	return valid
}
