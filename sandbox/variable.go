package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Variable describes a variable of a [Session].
type Variable struct {
	// Name is the variable's name.
	Name string

	// Kind is "array", "object", "text", "number", "boolean", "bigint", "null",
	// "undefined", "function", "symbol", "Map", "Set", "Date", "RegExp", "Error" or
	// "Promise".
	Kind string

	// Count is the number of its items, entries, keys or characters.
	Count int

	// Of is the kind of an array's items. It is empty if they are of different kinds or
	// too many to inspect.
	Of string

	// Keys are at most ten keys of an object, or of the first object in an array. Keys that
	// are not identifiers are left out.
	Keys []string

	// Bytes is the approximate size of its value as JSON. It is 0 if the value has no JSON
	// form or is too large to be measured.
	Bytes int
}

// String describes the variable to a person or a model:
//
//	orders: array of 812 objects {id, customer, total}, 40 KB
func (v Variable) String() string {
	var b strings.Builder
	b.WriteString(v.Name + ": " + v.Kind)
	switch v.Kind {
	case "array":
		b.WriteString(" of " + amount(v.Count, itemNames[v.Of]))
	case "object":
		if v.Count+v.Bytes > 0 {
			b.WriteString(" of " + amount(v.Count, "key"))
		}
	case "text":
		b.WriteString(" of " + amount(v.Count, "character"))
	case "Map":
		b.WriteString(" of " + amount(v.Count, "entry"))
	case "Set":
		b.WriteString(" of " + amount(v.Count, "item"))
	}
	if len(v.Keys) > 0 {
		b.WriteString(" {" + strings.Join(v.Keys, ", ") + "}")
	}
	if v.Bytes >= 1000 {
		fmt.Fprintf(&b, ", %d KB", (v.Bytes+999)/1000)
	}
	return b.String()
}

// itemNames are the nouns for the items of an array, by their kind.
var itemNames = map[string]string{
	"": "item", "array": "array", "object": "object", "text": "text", "number": "number", "boolean": "boolean",
}

func amount(n int, what string) string {
	switch {
	case what == "":
		what = "item"
	case n == 1:
	case what == "entry":
		return fmt.Sprintf("%d entries", n)
	}
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Variables lists the variables of the session in the order in which they were declared, at
// most the newest 1000. It runs neither programs nor the code of values, such as getters.
// If the session's VM is gone, it is rebuilt, as by [Session.Run]. Variables returns the
// same errors as Run.
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
	case out.Failure != nil && out.Failure.Ran(): // a limit; violations of Rules by the empty program do not matter
		return nil, fmt.Errorf("sandbox: the session's variables: %w", out.Failure)
	}
	return validVariables(step.variables), nil
}

// validVariables converts what a worker reports about variables. It removes what cannot
// be true.
func validVariables(list []engine.Variable) []Variable {
	var valid []Variable
	for _, v := range list[:min(len(list), engine.MaxVariables)] {
		isName := len(v.Name) <= engine.MaxName && jsonvalue.IsIdentifier(v.Name)
		if !isName || !slices.Contains(engine.Kinds, v.Kind) || min(v.Count, v.Bytes) < 0 {
			continue
		}
		if !slices.Contains(engine.Kinds, v.Of) {
			v.Of = ""
		}
		keys := slices.DeleteFunc(v.Keys[:min(len(v.Keys), engine.MaxKeys)], func(key string) bool {
			return len(key) > engine.MaxName || !jsonvalue.IsIdentifier(key)
		})
		valid = append(valid, Variable{Name: v.Name, Kind: v.Kind, Count: v.Count, Of: v.Of, Keys: keys, Bytes: v.Bytes})
	}
	return valid
}
