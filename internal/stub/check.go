package stub

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas has a JSON Schema for the requests of each protocol, and a JSON Schema for the strict schemas that
// all providers accept.
//
//go:embed schemas.json
var schemas []byte

// violation returns how a value violates a definition in schemas, or "".
func violation(definition string, value any) string {
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas))
	if err != nil {
		panic(err)
	}
	compiler := jsonschema.NewCompiler()
	_ = compiler.AddResource("schema.json", whole)
	if err = compiler.MustCompile("schema.json#/$defs/" + definition).Validate(value); err == nil {
		return ""
	}
	_, details, _ := strings.Cut(err.Error(), "\n")
	return strings.Join(strings.Fields(details), " ")
}

// without returns a copy of a value without the named members, at any depth.
func without(value any, names []string) any {
	switch v := value.(type) {
	case map[string]any:
		c := map[string]any{}
		for name, member := range v {
			if !slices.Contains(names, name) {
				c[name] = without(member, names)
			}
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i := range v {
			c[i] = without(v[i], names)
		}
		return c
	}
	return value
}

// incomplete returns an error message if a strict schema does not require all its properties, or "".
func incomplete(schema any) string {
	switch s := schema.(type) {
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !slices.Contains(required, any(name)) {
				return fmt.Sprintf("'required' must include every key in properties; missing %q", name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s)) {
			if problem := incomplete(s[name]); problem != "" {
				return problem
			}
		}
	case []any:
		for _, part := range s {
			if problem := incomplete(part); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// turn has the ids of the tool calls and tool results in a message.
type turn struct{ calls, results []string }

// unpaired returns an error message if a result does not belong to a call, or if a call has no result.
// Otherwise, it returns "".
func unpaired(turns []turn) string {
	var open []string
	for i, t := range append(turns, turn{}) {
		for _, id := range t.results {
			at := slices.Index(open, id)
			if at < 0 {
				return fmt.Sprintf("messages.%d: the result of %s belongs to no open tool call", i, id)
			}
			open = slices.Delete(open, at, at+1)
		}
		if len(t.results) == 0 && len(open) > 0 {
			return fmt.Sprintf("messages.%d: the tool calls before it have no results: %s", i, strings.Join(open, ", "))
		}
		open = append(open, t.calls...)
	}
	return ""
}

// objects returns the objects in a list.
func objects(list any) (all []map[string]any) {
	items, _ := list.([]any)
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			all = append(all, o)
		}
	}
	return all
}
