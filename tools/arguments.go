package tools

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Named returns the arguments as an object. If the input schema has only one property, which
// is required, and args are a string or an array that the property accepts, Named returns an
// object with that property. Otherwise, it returns args.
func (b *Binding) Named(args json.RawMessage) json.RawMessage {
	var kind string
	switch {
	case bytes.HasPrefix(args, []byte(`"`)):
		kind = "string"
	case bytes.HasPrefix(args, []byte(`[`)):
		kind = "array"
	default:
		return args
	}
	name, ok := b.only(kind)
	if !ok {
		return args
	}
	key, err := json.Marshal(name)
	if err != nil {
		return args // unreachable: every string has a JSON form
	}
	return bytes.Join([][]byte{[]byte("{"), key, []byte(":"), args, []byte("}")}, nil)
}

// only returns the name of the tool's only property, if it is required and accepts values of
// the type.
func (b *Binding) only(kind string) (name string, ok bool) {
	var input struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(b.InputSchema, &input) != nil || len(input.Properties) != 1 || len(input.Required) != 1 {
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
	return name, slices.ContainsFunc(append(property.AnyOf, property.kinds), func(t kinds) bool { return t.Type == kind })
}

// kinds is the part of a schema that names a type.
type kinds struct {
	Type any `json:"type"`
}
