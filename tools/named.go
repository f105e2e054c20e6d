package tools

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Named returns args as the object that they stand for. If a tool has only one property,
// which is required, a text or an array given to it is that property, if the schema
// accepts a value of that type. Everything else is returned as it is.
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

// only returns the name of the only property, if it is required and accepts values of a
// type.
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

// kinds is a schema as far as it names one type.
type kinds struct {
	Type any `json:"type"`
}
