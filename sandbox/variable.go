package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
)

// Variable describes a variable of a [Session].
type Variable struct {
	// Name is the variable's name.
	Name string

	// Kind is "array", "object", "text", "number", "boolean", "bigint", "null",
	// "undefined", "function", "symbol", "Map", "Set", "Date", "RegExp", "Error" or
	// "Promise".
	Kind string

	// Count is how many items, entries or keys it has, or how many characters.
	Count int

	// Of is the kind of an array's items, if all of them are of one kind and there are
	// not too many to look at.
	Of string

	// Keys are at most ten keys that are identifiers: of an object, or of the first
	// object in an array.
	Keys []string

	// Bytes is about how long its value is as JSON. It is 0 if the value has no form in
	// JSON, or is too large to be measured.
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

// itemNames are the items of an array by their kind.
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

// Variables lists the variables that the session's programs have left, in the order in
// which they were declared; of very many, the newest 1000. It runs no program, and none
// of the code that a value may contain, such as getters. If the session's VM is gone, it
// is rebuilt, as [Session.Run] does. The errors are those of Run.
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
	out, err := s.box.run(ctx, Program{}, true, step) // an empty program that is refused
	switch {
	case err != nil:
		return nil, err
	case out.Failure != nil && out.Failure.Ran(): // a limit; what Rules say of an empty program does not matter
		return nil, fmt.Errorf("sandbox: the session's variables: %w", out.Failure)
	}
	return described(step.variables), nil
}

// described is what a worker says of variables, as far as it can be true.
func described(list []engine.Variable) []Variable {
	var made []Variable
	for _, v := range list[:min(len(list), engine.MaxVariables)] {
		if len(v.Name) > engine.MaxName || !tools.Identifier(v.Name) || !slices.Contains(engine.Kinds, v.Kind) || min(v.Count, v.Bytes) < 0 {
			continue
		}
		if !slices.Contains(engine.Kinds, v.Of) {
			v.Of = ""
		}
		keys := slices.DeleteFunc(v.Keys[:min(len(v.Keys), engine.MaxKeys)], func(key string) bool {
			return len(key) > engine.MaxName || !tools.Identifier(key)
		})
		made = append(made, Variable{Name: v.Name, Kind: v.Kind, Count: v.Count, Of: v.Of, Keys: keys, Bytes: v.Bytes})
	}
	return made
}
