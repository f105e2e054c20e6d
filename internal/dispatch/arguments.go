package dispatch

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/tools"
)

// Named returns the arguments of a call as an object. If the tool's input schema has a single property, which
// is required, and args is a string or an array that the property accepts, Named returns an object in which the
// property has the value args. Otherwise, it returns args.
func Named(b *tools.Binding, args json.RawMessage) json.RawMessage {
	var kind string
	switch {
	case bytes.HasPrefix(args, []byte(`"`)):
		kind = "string"
	case bytes.HasPrefix(args, []byte(`[`)):
		kind = "array"
	default:
		return args
	}
	name, ok := only(b.InputSchema, kind)
	if !ok {
		return args
	}
	return slices.Concat([]byte("{"+jsonvalue.Text(name)+":"), args, []byte("}"))
}

// only returns the name of the schema's only property, if the property is required and accepts values of the given
// type.
func only(schema json.RawMessage, kind string) (name string, ok bool) {
	var input struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &input) != nil || len(input.Properties) != 1 || len(input.Required) != 1 {
		return "", false
	}
	name = input.Required[0]
	var property struct {
		kinds
		AnyOf []kinds `json:"anyOf"`
	}
	if json.Unmarshal(input.Properties[name], &property) != nil {
		return "", false
	}
	accepts := func(t kinds) bool { return t.Type == kind }
	return name, slices.ContainsFunc(append(property.AnyOf, property.kinds), accepts)
}

// kinds is the part of a schema that names its types.
type kinds struct {
	Type any `json:"type"`
}
